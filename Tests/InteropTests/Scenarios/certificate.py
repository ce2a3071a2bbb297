"""A certificate for 127.0.0.1, made anew: FOLDER [CERTIFICATE ...]

Writes own.pem and own.key there, and prints a hash of the key of each certificate, its own first, as Chromium takes it for trust.
"""
import base64, datetime, hashlib, ipaddress, pathlib, sys
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

folder = pathlib.Path(sys.argv[1])
key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.timezone.utc)
name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
own = (
    x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(x509.random_serial_number())
    .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=30))
    .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False).sign(key, hashes.SHA256())
)
(folder / "own.pem").write_bytes(own.public_bytes(serialization.Encoding.PEM))
(folder / "own.key").write_bytes(
    key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
for certificate in [own] + [x509.load_pem_x509_certificate(pathlib.Path(file).read_bytes()) for file in sys.argv[2:]]:
    public = certificate.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    print(base64.b64encode(hashlib.sha256(public).digest()).decode())
