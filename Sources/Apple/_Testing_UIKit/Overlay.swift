// The overlay that Swift looks for where a file imports both `Testing` and `UIKit`. Linux's toolchain names it and has none: on Apple
// systems it attaches images to a test, which nothing here can show.
