"""Uses the tools at an address with the Python SDK, and fastmcp where it is installed. Arguments: address, name of the set.

Prints a list with one object for each client: the number of its tools, the result of get_me, and the texts of two refusals.
"""

import asyncio
import importlib.util
import json
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

ADDRESS = sys.argv[1]
HEADERS = {"X-API-Key": "ada"}


def text(content):
    return "\n".join(block.text for block in content)


async def use_sdk():
    async with streamablehttp_client(ADDRESS, headers=HEADERS) as (read, write, *_):
        async with ClientSession(read, write) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            me = await session.call_tool("get_me", {})
            missing = await session.call_tool("get_stream", {"id": "str-nope"})
            wrong = await session.call_tool("start_stream", {"id": "str-nope", "nonsense": 1})
            assert missing.isError and wrong.isError
            return {
                "tools": len(tools),
                "me": me.structuredContent,
                "missing": text(missing.content),
                "wrong": text(wrong.content),
            }


async def use_fastmcp():
    from fastmcp import Client
    from fastmcp.client.transports import StreamableHttpTransport

    async with Client(StreamableHttpTransport(ADDRESS, headers=HEADERS)) as client:
        tools = await client.list_tools()
        me = await client.call_tool("get_me", {})
        missing = await client.call_tool("get_stream", {"id": "str-nope"}, raise_on_error=False)
        wrong = await client.call_tool("start_stream", {"id": "str-nope", "nonsense": 1}, raise_on_error=False)
        assert missing.is_error and wrong.is_error
        return {
            "tools": len(tools),
            "me": me.structured_content,
            "missing": text(missing.content),
            "wrong": text(wrong.content),
        }


async def main():
    told = [await use_sdk()]
    if importlib.util.find_spec("fastmcp"):
        told.append(await use_fastmcp())
    print(json.dumps(told))


asyncio.run(main())
