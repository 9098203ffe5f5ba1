"""The method of the paper as pure functions on arrays and bytes.

Nothing in here knows of Beam, of a file system or of a log. Rooms follow the paper:
windows, appearance, embedding, prediction, context, assessment;
`belvedere.core.localization` is the page that calls them in order.
"""
