/**
 * Logs in to an RTMP server that asks for a user name. ffmpeg could do it, but takes a password only in a URL in its
 * arguments, which everybody on a node can read. So this module asks the server for its challenge and gives ffmpeg the
 * answer, which works once and reveals nothing of the password (authmod.ts).
 */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Failure } from '../../../protocol/codes.ts';
import { type Address, withLogin } from './address.ts';
import { answerChallenge } from './authmod.ts';
import { failure } from './failure.ts';
import { openRelay } from './relay.ts';
import { askToConnect, type ConnectReply } from './rtmp-connect.ts';

export interface LoginOptions {
  /** A checked address of the host. */
  ip: string;
  /** PEM file of the authorities to trust for RTMPS, instead of the system's. */
  caFile?: string | undefined;
  signal?: AbortSignal | undefined;
}

export type LoggedIn = { address: Address; failure?: undefined } | { address?: undefined; failure: Failure };

/** Limit for one connection. */
const ASK_MS = 5000;
/** One turn for the name, and one for the challenge. */
const MAX_TURNS = 2;

/**
 * Adds the answer to the server's challenge to the address. The address stays unchanged if it has no login, if the
 * server asks for none, or if something else is wrong, which ffmpeg then reports better.
 */
export async function logIn(address: Address, options: LoginOptions): Promise<LoggedIn> {
  const { login, app, url } = address;
  if (!login) return { address };
  let query = '';
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const asked = await ask(address, { app: app + query, tcUrl: `${url}/${app}${query}` }, options);
    if ('failure' in asked) return asked;
    if (!asked.reply || asked.reply.isGranted) break;
    const nonce = randomBytes(4).toString('hex');
    const challenge = answerChallenge(asked.reply.description, { login, app, nonce });
    if (challenge.kind === 'refused') return { failure: failure('login_refused', challenge.why) };
    if (challenge.kind === 'none') break;
    query = challenge.query;
    if (challenge.kind === 'password') return { address: withLogin(address, query) };
  }
  return { address };
}

/** Opens one connection and closes it again. Without a reply, ffmpeg may report the reason. */
async function ask(
  { protocol, host, port }: Address,
  names: { app: string; tcUrl: string },
  { ip, caFile, signal }: LoginOptions,
): Promise<{ reply: ConnectReply | undefined } | { failure: Failure }> {
  const relay = protocol === 'rtmps' ? await openRelay({ host, address: ip, port, caFile }) : undefined;
  let socket: Socket | undefined;
  const leave = () => socket?.destroy();
  try {
    socket = connect(relay ? { host: '127.0.0.1', port: relay.port } : { host: ip, port });
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted) leave();
    const reply = await askToConnect(socket, { ...names, timeoutMs: ASK_MS });
    const fault = relay?.failure();
    return fault ? { failure: fault } : { reply };
  } finally {
    signal?.removeEventListener('abort', leave);
    leave();
    await relay?.close();
  }
}
