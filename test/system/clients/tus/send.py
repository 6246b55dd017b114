"""Sends a file with tuspy. Arguments: endpoint, key, path, and the way; prints the URL of the upload."""

import asyncio
import sys

from tusclient import client, exceptions

endpoint, key, path, way = sys.argv[1:]
CHUNK = 1024 * 1024
tus = client.TusClient(endpoint, headers={"X-API-Key": key})
settings = {
    "file_path": path,
    "chunk_size": CHUNK,
    "metadata": {"filename": "film.mp4", "filetype": "video/mp4"},
    "upload_checksum": "checksum" in way,
}

if way.startswith("async"):
    uploader = tus.async_uploader(**settings)
    asyncio.run(uploader.upload())
else:
    uploader = tus.uploader(**settings)
    if "resume" in way:
        uploader.upload(stop_at=CHUNK)
        uploader = tus.uploader(**settings, url=uploader.url)
        if uploader.offset != CHUNK:
            raise SystemExit(f"goes on at {uploader.offset}")
    uploader.upload()
print(uploader.url)
