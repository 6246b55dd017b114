/**
 * Runs the local RTMP receiver: it takes streams and serves them over HTTP-FLV, so that a stream can be watched with no
 * platform account. The same HTTP port serves the demo clip and a user's own file to the importer.
 */
import { mkdirSync } from 'node:fs';
import NodeMediaServer from 'node-media-server';

export interface ReceiverOptions {
  host: string;
  rtmpPort: number;
  httpPort: number;
  /** Served under /media/. */
  mediaDir: string;
  dataDir: string;
  /** The directory of recordings, if they are kept. */
  recordDir: string | undefined;
}

/** Runs until the process ends. */
export async function runReceiver(options: ReceiverOptions): Promise<void> {
  mkdirSync(options.dataDir, { recursive: true });
  const server = new NodeMediaServer({
    bind: options.host,
    rtmp: { port: options.rtmpPort },
    http: { port: options.httpPort },
    static: { router: '/media', root: options.mediaDir },
    store: { path: options.dataDir },
    webadmin: { enable: false },
    ...(options.recordDir ? { record: { path: options.recordDir, auto: true } } : {}),
  });
  await server.run();
}
