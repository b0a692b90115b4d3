"""The page: a folder of plain HTML that shows nights, for any browser and without a server."""
