/** No stream yet: the way to the first one, on the page and by the API. */
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { Logo } from '../../ui/logo.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import classes from './emptyStreams.module.css';

/** The four calls from a link to a stream, with this server's address. The key is the reader's to fill in. */
export const firstStreamSnippet = (origin: string): string => `API=${origin}/v1
KEY=lsk_...   # your API key
post() { curl -sS -X POST "$API/$1" -d "$2" \\
  -H "X-API-Key: $KEY" -H "Content-Type: application/json"; echo; }

# 1. The media, from a link. Returns an objectID.
post uploads/from-link '{"type":"VIDEO","url":"https://example.com/show.mp4"}'

# 2. The destination. Returns an id.
post destinations '{"name":"My channel","rtmpUrl":"rtmp://host/app","rtmpKey":"..."}'

# 3. The stream, with the two ids from above. Returns an id.
post streams '{"name":"My first stream","quality":"q_1080p","framerate":"f_30",
  "videoUploadObjectID":"OBJECT_ID","destinationID":"DESTINATION_ID"}'

# 4. Press Start here, or:
curl -sS -X POST "$API/streams/STREAM_ID/start" -H "X-API-Key: $KEY"`;

export function EmptyStreams() {
  return (
    <section className={classes.empty} aria-label="How to create a stream">
      <Logo size={48} />
      <h2>Put your first stream on air</h2>
      <p>
        A stream loops a video or a playlist to YouTube, Twitch or any other destination until you stop it. You need a
        link to a video and the stream key of your channel.
      </p>
      <Button component={Link} to="/create" size="md" leftSection={<IconPlus size={18} aria-hidden />}>
        New stream
      </Button>
      <details className={classes.details}>
        <summary>Or by the API</summary>
        <Snippet text={firstStreamSnippet(location.origin)} label="The calls from a link to a stream" />
        <p className={classes.more}>
          Every call is described in the <a href="/docs">API pages</a>. The stream appears here when it is created.
        </p>
      </details>
    </section>
  );
}
