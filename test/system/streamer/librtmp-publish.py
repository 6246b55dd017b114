"""Publishes for a moment with librtmp, which OBS uses: librtmp-publish.py "rtmp://host/app/key pubUser=… pubPasswd=…"

Exits with 0 when the server took the publish. The library comes with curl (Debian: librtmp1).
"""

import ctypes
import sys

rtmp = ctypes.CDLL("librtmp.so.1")
rtmp.RTMP_Alloc.restype = ctypes.c_void_p
for name in ["Init", "EnableWrite", "Close"]:
    getattr(rtmp, f"RTMP_{name}").argtypes = [ctypes.c_void_p]
for name in ["SetupURL", "Connect"]:
    getattr(rtmp, f"RTMP_{name}").argtypes = [ctypes.c_void_p, ctypes.c_void_p]
rtmp.RTMP_ConnectStream.argtypes = [ctypes.c_void_p, ctypes.c_int]

session = rtmp.RTMP_Alloc()
rtmp.RTMP_Init(session)
# The library splits the text, and keeps pointers into it.
url = ctypes.create_string_buffer(sys.argv[1].encode())
if not rtmp.RTMP_SetupURL(session, url):
    sys.exit("the URL cannot be read")
rtmp.RTMP_EnableWrite(session)
taken = rtmp.RTMP_Connect(session, None) and rtmp.RTMP_ConnectStream(session, 0)
rtmp.RTMP_Close(session)
sys.exit(0 if taken else 1)
