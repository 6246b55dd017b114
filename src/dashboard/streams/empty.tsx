import { Button, CopyButton } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { Logo } from '../shell/logo.tsx';
import classes from './empty.module.css';

/** The four calls from a link to a stream, with this server's address. The key is the reader's to fill in. */
export const firstStreamSnippet = (origin: string): string => `API=${origin}/v1
KEY=lsk_...   # your API key
post() { curl -sS -X POST "$API/$1" -d "$2" \\
  -H "X-API-Key: $KEY" -H "Content-Type: application/json"; echo; }

# 1. The media, from a link. Answers an objectID.
post uploads/from-link '{"type":"VIDEO","url":"https://example.com/show.mp4"}'

# 2. Where it goes. Answers an id.
post destinations '{"name":"My channel","rtmpUrl":"rtmp://host/app","rtmpKey":"..."}'

# 3. The stream, with the two ids from above. Answers an id.
post streams '{"name":"My first stream","quality":"q_1080p","framerate":"f_30",
  "videoUploadObjectID":"OBJECT_ID","destinationID":"DESTINATION_ID"}'

# 4. Press Start here, or:
curl -sS -X POST "$API/streams/STREAM_ID/start" -H "X-API-Key: $KEY"`;

export function EmptyStreams() {
  const snippet = firstStreamSnippet(location.origin);
  return (
    <section className={classes.empty} aria-label="How to create a stream">
      <Logo size={48} />
      <h2>No stream yet</h2>
      <p>
        A stream loops a video, or a playlist, to a destination until you stop it. Create the first one with the API:
      </p>
      <div className={classes.snippet}>
        <CopyButton value={snippet}>
          {({ copied, copy }) => (
            <Button
              className={classes.copy ?? ''}
              size="xs"
              variant="default"
              leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
              onClick={copy}
            >
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1). */}
        <pre tabIndex={0}>{snippet}</pre>
      </div>
      <p className={classes.more}>
        Every call is described in the <a href="/docs">API pages</a>. The stream shows up here by itself.
      </p>
    </section>
  );
}
