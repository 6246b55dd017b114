/** Runs an independent RTMP receiver for tests: nginx with libnginx-mod-rtmp, on a free port, recording all streams. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { until } from '../wait.ts';

const APPLICATION = 'live';
const HLS_APPLICATION = 'show';
const MODULE = '/usr/lib/nginx/modules/ngx_rtmp_module.so';

export interface RtmpServer {
  port: number;
  /** The URL without a key, e.g. rtmp://127.0.0.1:40123/live; any key works. */
  url: string;
  /** Where publishers are shown by HLS, if that is asked for. */
  hlsUrl: string;
  /** Its playlists and segments, as files. */
  hlsDir: string;
  /** Paths of the recordings so far, oldest first: `<key>-<unix seconds>.flv`, one for each publish. */
  recordings(key?: string): Promise<string[]>;
  /** nginx's log: a line for each publisher that left. */
  log(): Promise<string>;
  /** Ends every connection and stops listening; `start` listens on the same port again. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops and removes everything but `record`. */
  close(): Promise<void>;
}

const listens = (port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

const configuration = (prefix: string, listen: string, options: RtmpServerOptions): string => `
load_module ${MODULE};
daemon off;
master_process off;
pid ${prefix}/nginx.pid;
error_log ${prefix}/error.log info;
events { worker_connections 256; }
rtmp {
  access_log ${prefix}/rtmp.log;
  server {
    listen ${listen};
    chunk_size ${options.chunkBytes ?? 4096};
    application ${options.application ?? APPLICATION} {
      live on;
      record all;
      record_path ${options.record};
      ${options.recordMaxBytes ? `record_max_size ${options.recordMaxBytes}; record_interval 1d;` : ''}
      ${options.onPublish ? `on_publish ${options.onPublish};` : ''}
      record_unique on;
      record_append off;
    }
    ${options.hls ? hlsApplication(prefix, options.hls) : ''}
  }
}
${
  options.hls
    ? `http {
  access_log off;
  types { application/vnd.apple.mpegurl m3u8; video/mp2t ts; }
  server { listen 127.0.0.1:${options.hls.port}; root ${prefix}; location /hls { add_header cache-control no-cache; } }
}`
    : ''
}
`;

/** Publishers of an application of its own are shown by HLS, as viewers get it, and may be played. */
const hlsApplication = (prefix: string, { fragmentSeconds = 2, playlistSeconds = 10 }: HlsOptions): string => `
    application ${HLS_APPLICATION} {
      live on;
      hls on;
      hls_path ${prefix}/hls;
      hls_fragment ${fragmentSeconds}s;
      hls_playlist_length ${playlistSeconds}s;
    }
`;

export interface HlsOptions {
  /** Of http://127.0.0.1:<port>/hls/<key>.m3u8 */
  port: number;
  fragmentSeconds?: number;
  playlistSeconds?: number;
}

export interface RtmpServerOptions {
  /** The folder for FLV recordings, made when missing. */
  record: string;
  port?: number;
  /** An address of loopback; 127.0.0.1 by default. */
  host?: string;
  /** The application that takes publishers; `live` by default. */
  application?: string;
  /** A URL that authorizes each publisher by POST: any answer but 2xx refuses. */
  onPublish?: string;
  /** The size of chunks that it announces, and that ffmpeg takes up for what it sends; 4096 by default. */
  chunkBytes?: number;
  /** A recording ends when it has so many bytes, and is the only one of its publish for a day. */
  recordMaxBytes?: number;
  /** Adds an application, `hlsUrl`, whose publishers are shown by HLS. */
  hls?: HlsOptions;
}

/** Starts nginx on loopback. */
export async function startRtmpServer(options: RtmpServerOptions): Promise<RtmpServer> {
  await access(MODULE);
  await mkdir(options.record, { recursive: true });
  const prefix = await mkdtemp(join(tmpdir(), 'rtmp-'));
  const { host = '127.0.0.1' } = options;
  const port = options.port ?? (await reserveFreePort());
  await writeFile(join(prefix, 'nginx.conf'), configuration(prefix, `${host}:${port}`, options));
  let nginx: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    const child = spawn('nginx', ['-p', prefix, '-c', join(prefix, 'nginx.conf'), '-e', join(prefix, 'error.log')], {
      stdio: 'ignore',
    });
    nginx = child;
    await until('nginx listens', () => {
      if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
      return listens(port, host);
    });
  };
  const stop = async (): Promise<void> => {
    const child = nginx;
    nginx = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
  };
  await start();
  return {
    port,
    url: `rtmp://${host}:${port}/${options.application ?? APPLICATION}`,
    hlsUrl: `rtmp://${host}:${port}/${HLS_APPLICATION}`,
    hlsDir: join(prefix, 'hls'),
    recordings: async (key) =>
      (await readdir(options.record))
        .filter((name) => name.endsWith('.flv') && (key === undefined || name.startsWith(`${key}-`)))
        .sort()
        .map((name) => join(options.record, name)),
    log: () => readFile(join(prefix, 'rtmp.log'), 'utf8').catch(() => ''),
    stop,
    start,
    close: async () => {
      await stop();
      await rm(prefix, { recursive: true, force: true });
    },
  };
}
