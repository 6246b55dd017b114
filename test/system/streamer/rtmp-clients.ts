/** Runs independent RTMP publishers and a server with logins: ffmpeg, librtmp and gortmplib. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { ensureRtmpLogin } from '../../kit/real/go-programs.ts';
import { run } from '../../kit/run.ts';
import { until } from '../../kit/wait.ts';

const TIMEOUT_MS = 60_000;
const LIBRTMP = join(import.meta.dirname, 'librtmp-publish.py');

const does = (program: string, args: string[]): Promise<boolean> =>
  run(program, args, { timeoutMs: TIMEOUT_MS }).then(
    () => true,
    () => false,
  );

export interface RtmpLogin {
  user: string;
  password: string;
}

/** Publishes for a moment to `rtmp://HOST/APP/KEY`; false for a refusal. With a login, the URL has none. */
export type RtmpClient = (url: string, login: RtmpLogin) => Promise<boolean>;

const withUser = (url: string, { user, password }: RtmpLogin) => url.replace('://', `://${user}:${password}@`);

export const ffmpegPublish: RtmpClient = (url, login) => {
  const tone = ['-v', 'error', '-f', 'lavfi', '-i', 'sine=d=1', '-c:a', 'aac'];
  return does('ffmpeg', [...tone, '-f', 'flv', withUser(url, login)]);
};

export const librtmpPublish: RtmpClient = (url, { user, password }) =>
  does('python3', [LIBRTMP, `${url} pubUser=${user} pubPasswd=${password}`]);

/** gortmplib's client names every user `myuser`, and takes the key behind a `#`. */
export const gortmplibPublish: RtmpClient = async (url, login) =>
  does((await ensureRtmpLogin())['rtmp-login'], ['publish', withUser(url, login).replace(/\/([^/]*)$/, '#$1')]);

export interface LoginServer {
  /** The URL without application and key. */
  url: string;
  /** The URL of each publish. */
  urls(): string[];
  close(): Promise<void>;
}

/** Starts the server of MediaMTX with a login (Adobe's). */
export async function startLoginServer({ user, password }: RtmpLogin): Promise<LoginServer> {
  const { 'rtmp-login': program } = await ensureRtmpLogin();
  const address = `127.0.0.1:${await reserveFreePort()}`;
  const child = spawn(program, ['serve', address, user, password], { stdio: ['ignore', 'pipe', 'ignore'] });
  let lines = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    lines += text;
  });
  const url = `rtmp://${address}`;
  await until('it listens', () => ffmpegPublish(`${url}/live/first`, { user, password }));
  return {
    url,
    urls: () => lines.split('\n').filter((line) => line !== '' && !line.endsWith('/first')),
    close: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}
