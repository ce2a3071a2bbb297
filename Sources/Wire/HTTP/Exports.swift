// Requests, responses, methods, statuses and fields are those of swift-http-types.
@_exported import HTTPTypes
