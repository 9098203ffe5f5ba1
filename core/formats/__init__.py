"""Pictures and boxes as others write them: bytes and text in, checked values out."""
