"""The online index: tells of each page as it comes what it is a duplicate of; files in a folder, larger than memory."""
