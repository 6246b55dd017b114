"""Adds to valid requests the facts that a schema cannot express: existing ids, future times, cursors of that list.

Invalid requests stay the same.
"""

import itertools
import json
import os
import re
from datetime import datetime, timedelta, timezone

import schemathesis

# The objects of the account: destinationID, videoUploadObjectID, audioUploadObjectID, videoList, audioList.
IDS = json.loads(os.environ["SCHEMATHESIS_IDS"])
# Hosts must be public, so the internet routes this address (it does not route 2001:db8::/32). Nothing connects to it.
URLS = ["rtmp://live.example.com/app", "rtmps://live.example.com:443/a/b?c=d", "srt://[2606:2800::1]:9000?mode=caller"]
LINKS = ["https://example.com/a.mp4", "http://example.com:8080/%20?x=%C3%BC#y", "HTTPS://EXAMPLE.COM"]
STREAM_KEY = re.compile(r"[\w.~-]{1,99}", re.ASCII)
# Which fields belong together depends on the kind.
PLATFORMS = {
    "none": {},
    "watch": {"url": "https://live.example.com/tv.m3u8"},
    "twitch": {"channel": "ada"},
    "youtube": {"videoId": "aqz-KE-bpKQ"},
}
CRONS = ["0 18 * * 5", "*/5 0-6 1,15 jan-mar *", "30 2 L * *"]
ZONES = ["UTC", "Europe/Berlin", "America/Argentina/Ushuaia"]


def is_right(case):
    meta = case.meta
    return meta is not None and meta.generation.mode.is_positive


def choose(values, instead_of):
    return values[len(str(instead_of)) % len(values)]


def in_minutes(minutes):
    return (datetime.now(timezone.utc) + timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")


def mend_sources(body, creating):
    if "destinations" in body:
        body["destinations"] = [{"destinationID": IDS["destinationID"], "enabled": True}]
        body.pop("destinationID", None)
        body.pop("destinationIDs", None)
    elif "destinationIDs" in body:
        body["destinationIDs"] = [IDS["destinationID"]]
        body.pop("destinationID", None)
    elif creating or "destinationID" in body:
        body["destinationID"] = IDS["destinationID"]
    if "playlistIDs" in body:
        body["playlistIDs"] = [IDS["videoList"]]
        body.pop("videoUploadObjectID", None)
    elif creating or "videoUploadObjectID" in body:
        body["videoUploadObjectID"] = IDS["videoUploadObjectID"]
    body.pop("slateUploadObjectID", None)
    if body.get("audioPlaylistIDs"):
        body["audioPlaylistIDs"] = [IDS["audioList"]]
    # Songs have the cards.
    if body.get("cards") is not None:
        body["cards"] = {}
        body["audioPlaylistIDs"] = [IDS["audioList"]]
    elif "audioPlaylistIDs" in body:
        body["cards"] = None


def mend_schedule(body):
    for field, minutes in (("scheduleStartAt", 60), ("scheduleOnAirUntil", 90), ("scheduleEndAt", 120)):
        if field in body:
            body[field] = in_minutes(minutes)
    # It lasts until a start.
    if "scheduleOnAirUntil" in body and "recurrence" not in body:
        body.setdefault("scheduleStartAt", in_minutes(60))
    if "recurrence" in body:
        recurrence = body["recurrence"] = dict(body["recurrence"])
        recurrence["cron"] = choose(CRONS, recurrence["cron"])
        if "timeZone" in recurrence:
            recurrence["timeZone"] = choose(ZONES, recurrence["timeZone"])


def mend_destination(body, creating):
    # Each short name is the same field as its long one, so the two may not differ. A new destination needs an address.
    for long, short in (("rtmpUrl", "url"), ("rtmpKey", "key")):
        if long in body:
            body.pop(short, None)
    if creating and "url" not in body:
        body.setdefault("rtmpUrl", URLS[0])
    address = next((name for name in ("rtmpUrl", "url") if name in body), None)
    if address:
        body[address] = choose(URLS, body[address])
    # A login is for RTMP, and has both parts; the limit of a user name counts bytes. A change does not contain the
    # address: only the destination does.
    login = {name: body.pop(name) for name in ("rtmpUser", "rtmpPassword") if name in body}
    if login and body.get(address, "").startswith("rtmp"):
        for name in ("rtmpUser", "rtmpPassword"):
            value = login.get(name, "").strip()
            body[name] = value if 0 < len(value.encode()) <= 255 else "ada"
    # The address may not end with the key, which has no blanks, quotes or placeholders.
    key = next((name for name in ("rtmpKey", "key") if name in body), None)
    if key:
        body[key] = body[key] if STREAM_KEY.fullmatch(body[key]) else "k-123456"
    elif "name" in body and address:
        body["rtmpKey"] = "k-123456"
    if body.get("platform"):
        kind = body["platform"]["kind"]
        body["platform"] = {"kind": kind, **PLATFORMS[kind]}
    if not body:
        body["name"] = "Home"


def mend_endpoint(body, creating):
    # Which fields belong together depends on the kind. Nothing answers at this host.
    for name in ("address", "template", "rule"):
        body.pop(name, None)
    if creating:
        body["kind"] = "webhook"
    if creating or "url" in body:
        body["url"] = "https://hooks.example.invalid/"
    if not body:
        body["name"] = "Monitor"


def mend_layer(layer):
    # Either a text or a picture, and fields of a text alone; one time to be shown.
    layer = {**layer, "text": "{{item.title}}"}
    layer.pop("imageUploadObjectID", None)
    if layer.get("show") is not None:
        layer["show"] = {"everySeconds": 60, "forSeconds": 5}
    return layer


def mend_rule(index, rule):
    # A rule plays at one time, and either a playlist or an upload. A video can be an item of either kind.
    rule = {**rule, "name": f"rule-{index}", "uploadObjectID": IDS["videoUploadObjectID"], "when": {"eachItems": 5}}
    rule.pop("playlistID", None)
    return rule


def mend(operation, body):
    body = dict(body)
    if operation in ("createEndpoint", "updateEndpoint"):
        mend_endpoint(body, creating=operation == "createEndpoint")
    # A shorter life would refuse keys that the schema allows.
    if operation == "updateApiKeyPolicy" and body["maxKeyDays"] is not None:
        body["maxKeyDays"] = 365
    # The grammar of selectors is no part of the schema, and neither is the life that a key has already.
    if operation == "createApiKey" and "labelSelector" in body:
        body["labelSelector"] = "team in (news,sport),!draft"
    if operation == "updateApiKey":
        body.pop("expiresAt", None)
    # The limit includes the items that a playlist has already: no request fills one up.
    if operation in ("createPlaylist", "updatePlaylist") and "items" in body:
        body["items"] = body["items"][:100]
    if operation in ("createPlaylist", "updatePlaylist") and "rules" in body:
        body["rules"] = [mend_rule(index, rule) for index, rule in enumerate(body["rules"])]
    if operation in ("createStream", "updateStream", "cloneStream"):
        mend_sources(body, creating=operation == "createStream")
        if body.get("overlays") is not None:
            # Either layers or a scene, which nobody has made.
            layers = [mend_layer(layer) for layer in body["overlays"].get("layers") or [{}]]
            body["overlays"] = {**body["overlays"], "layers": layers, "sceneID": None}
    if operation in ("createScene", "updateScene") and "layers" in body:
        body["layers"] = [mend_layer(layer) for layer in body["layers"]]
    if operation in ("createStream", "scheduleStream"):
        mend_schedule(body)
    if operation in ("createDestination", "updateDestination"):
        mend_destination(body, creating=operation == "createDestination")
    # Left and right are two tracks.
    if (body.get("tracks") or {}).get("audioRight") is not None:
        body["tracks"] = {**body["tracks"], "audio": 1, "audioRight": 2}
    # Codes and addresses have a form of their own; an empty text takes that of the file.
    for name, value in (("isrc", "USRC17607839"), ("licenseUrl", "https://example.com/by")):
        if operation in ("createUploadFromLink", "updateUpload") and body.get(name):
            body[name] = value
    if operation == "createUploadFromLink":
        body["url"] = choose(LINKS, body["url"])
    if operation == "createUploadsFromLinks":
        body["links"] = [mend("createUploadFromLink", link) for link in body["links"][:5]]
    if operation == "createPlaylist":
        upload = IDS["videoUploadObjectID" if body["kind"] == "video" else "audioUploadObjectID"]
        body["items"] = [{"uploadObjectID": upload} for _ in body["items"]]
        body.pop("streamID", None)
    # A request does not show whether its stream has songs.
    if operation == "skipStreamItem" and "track" in body:
        body["track"] = "video"
    # A video can be an item of either kind.
    item = {"uploadObjectID": IDS["videoUploadObjectID"]}
    if operation == "updatePlaylist" and "items" in body:
        body["items"] = [item for _ in body["items"]]
    # Settings define the currency and the limits of an amount.
    if operation == "createTopUp":
        body.update(amountMinor="2500", currency="USD")
    if operation == "createCryptoDeposit":
        body.update(asset="ETH", network="ethereum")
        # `amount` and `amountMinor` exclude each other.
        if body.pop("amountMinor", None) is not None or "amount" in body:
            body["amount"] = str(10**15)
    if operation == "changePlaylist":
        body["changes"] = [{"op": "insert", "index": 0, "items": [item]} for _ in body["changes"]]
    return body


# The key of the description's example, with another body each time, would be refused before the check of the body.
KEY = "6b0b9a3e-9d0f-4a52-8a62-1c1f7f3f6d11"
NUMBERS = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.headers and case.headers.get("Idempotency-Key") == KEY:
        case.headers["Idempotency-Key"] = f"case-{next(NUMBERS)}"
    # Other requests need these objects.
    if case.method == "DELETE" and case.path_parameters and case.path_parameters.get("id") in IDS.values():
        case.path_parameters = {**case.path_parameters, "id": "gone"}
    if not is_right(case):
        # null is valid for an optional body: the Go client of openapi-generator writes it so.
        body = case.operation.definition.raw.get("requestBody")
        if case.body is None and body and not body.get("required"):
            case.body = []
        return
    if isinstance(case.body, dict):
        case.body = mend(case.operation.definition.raw.get("operationId"), case.body)
    # A selector has a grammar.
    if case.query and "label" in case.query:
        case.query = {**case.query, "label": ["team=news"]}
    if case.query and "cursor" in case.query:
        case.query = {name: value for name, value in case.query.items() if name != "cursor"}
    # A missing end of a period is today.
    if case.query and case.path == "/v1/billing/usage":
        today = datetime.now(timezone.utc).date()
        period = {"from": str(today - timedelta(days=40)), "to": str(today - timedelta(days=1))}
        case.query = {**case.query, **{name: day for name, day in period.items() if name in case.query}}
    # The future is not known.
    if case.query and case.path.startswith(("/v1/streams/{id}/uptime", "/v1/streams/{id}/as-run")):
        period = {"from": in_minutes(-120), "to": in_minutes(-60)}
        case.query = {**case.query, **{name: time for name, time in period.items() if name in case.query}}
    # The end of a timeline is near its beginning, which is now if it is missing.
    if case.query and case.path.startswith("/v1/streams/{id}/timeline"):
        period = {"from": in_minutes(60), "to": in_minutes(120)}
        case.query = {**case.query, **{name: time for name, time in period.items() if name in case.query}}
    # One of both is explained.
    if case.query and case.path == "/v1/streams/{id}/explain" and "rule" in case.query:
        case.query = {name: value for name, value in case.query.items() if name != "uploadObjectID"}
    if case.query and isinstance(case.query.get("timeZone"), str):
        case.query = {**case.query, "timeZone": choose(ZONES, case.query["timeZone"])}
    # Nothing changes after a second: a longer wait is useless.
    if case.query and isinstance(case.query.get("wait"), int):
        case.query = {**case.query, "wait": min(case.query["wait"], 1)}


SEEN = set()


@schemathesis.hook
def after_call(context, case, response):
    """Records each request and its answer once."""
    operation = case.operation.definition.raw.get("operationId")
    phase = case.meta.phase.name.value if case.meta is not None else "none"
    entry = (operation, "right" if is_right(case) else "wrong", phase, response.status_code)
    if entry in SEEN:
        return
    SEEN.add(entry)
    with open(os.environ["SCHEMATHESIS_SEEN"], "a", encoding="utf-8") as file:
        file.write(json.dumps(dict(zip(("operation", "mode", "phase", "status"), entry))) + "\n")
