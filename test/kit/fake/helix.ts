/**
 * Implements the part of Twitch's Helix API that says who is live, from its public reference: app access tokens by client credentials, and
 * Get Users by ids and logins, Get Streams with up to 100 user ids, pages of 20 unless `first` says otherwise, and a bucket of 800 points a
 * minute. Believed, not
 * documented: answers lag (here by `lagMs`), and a broadcast ends after 48 hours.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const POINTS_PER_MINUTE = 800;
const IDS_MOST = 100;
const LIMIT_MS = 48 * 3_600_000;

export interface HelixOptions {
  nowMs: () => number;
  lagMs?: () => number;
  clientId?: string;
  clientSecret?: string;
}
interface FakeChannel {
  viewers: number;
  spans: { startMs: number; endMs?: number }[];
}

export async function startHelix({
  nowMs,
  lagMs = () => 0,
  clientId = 'client',
  clientSecret = 'secret',
}: HelixOptions) {
  const channels = new Map<string, FakeChannel>();
  const users = new Map<string, string>();
  const tokens = new Set<string>();
  const calls: string[] = [];
  const bucket = { minute: 0, points: POINTS_PER_MINUTE };
  let number = 0;
  let isDown = false;

  const findSpan = ({ spans }: FakeChannel, atMs: number) =>
    spans.find(
      ({ startMs, endMs = startMs + LIMIT_MS }) => startMs <= atMs && atMs < Math.min(endMs, startMs + LIMIT_MS),
    );

  const listStreams = (query: URLSearchParams): { status: number; body: object } => {
    const ids = query.getAll('user_id');
    const first = Number(query.get('first') ?? 20);
    if (ids.length > IDS_MOST || !(first >= 1 && first <= 100))
      return { status: 400, body: { error: 'Bad Request', status: 400, message: 'The parameter is not valid.' } };
    const atMs = nowMs() - lagMs();
    const live = ids.flatMap((userId) => {
      const channel = channels.get(userId);
      const span = channel && findSpan(channel, atMs);
      if (!channel || !span) return [];
      return {
        id: `${userId}-${span.startMs}`,
        user_id: userId,
        user_login: `user${userId}`,
        user_name: `User${userId}`,
        type: 'live',
        title: 'A stream',
        viewer_count: channel.viewers,
        started_at: new Date(span.startMs).toISOString().replace('.000Z', 'Z'),
        language: 'en',
        is_mature: false,
      };
    });
    const from = Number(query.get('after') ?? 0);
    const pagination = from + first < live.length ? { cursor: String(from + first) } : {};
    return { status: 200, body: { data: live.slice(from, from + first), pagination } };
  };

  const listUsers = (query: URLSearchParams): { status: number; body: object } => {
    const [ids, logins] = [query.getAll('id'), query.getAll('login')];
    if (ids.length + logins.length > IDS_MOST || ids.length + logins.length === 0)
      return { status: 400, body: { error: 'Bad Request', status: 400, message: 'The parameter is not valid.' } };
    const found = [...users].filter(([id, login]) => ids.includes(id) || logins.includes(login));
    return { status: 200, body: { data: found.map(([id, login]) => ({ id, login, display_name: login })) } };
  };

  const refuse = (status: number, error: string, message: string) => ({ status, body: { error, status, message } });
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://fake');
    let text = '';
    for await (const chunk of request) text += chunk;
    const send = ({ status, body }: { status: number; body: object }) => {
      const minute = Math.floor(nowMs() / 60_000);
      response
        .writeHead(status, {
          'content-type': 'application/json',
          'ratelimit-limit': String(POINTS_PER_MINUTE),
          'ratelimit-remaining': String(bucket.points),
          'ratelimit-reset': String((minute + 1) * 60),
        })
        .end(JSON.stringify(body));
    };
    if (isDown) return send(refuse(503, 'Service Unavailable', ''));
    if (pathname === '/oauth2/token') {
      const form = new URLSearchParams(text);
      const isKnown = form.get('client_id') === clientId && form.get('client_secret') === clientSecret;
      if (!isKnown || form.get('grant_type') !== 'client_credentials')
        return send(refuse(403, 'Forbidden', 'invalid client secret'));
      const token = `app-token-${++number}`;
      tokens.add(token);
      return send({ status: 200, body: { access_token: token, expires_in: 5_000_000, token_type: 'bearer' } });
    }
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (!tokens.has(token) || request.headers['client-id'] !== clientId)
      return send(refuse(401, 'Unauthorized', 'Invalid OAuth token'));
    const minute = Math.floor(nowMs() / 60_000);
    if (minute !== bucket.minute) Object.assign(bucket, { minute, points: POINTS_PER_MINUTE });
    calls.push(pathname);
    if (bucket.points === 0) return send(refuse(429, 'Too Many Requests', ''));
    bucket.points--;
    if (pathname === '/helix/users') return send(listUsers(searchParams));
    return send(pathname === '/helix/streams' ? listStreams(searchParams) : refuse(404, 'Not Found', ''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    start(userId: string, viewers = 0): void {
      const channel = channels.get(userId) ?? { viewers, spans: [] };
      channel.viewers = viewers;
      channel.spans.push({ startMs: nowMs() });
      channels.set(userId, channel);
    },
    end(userId: string): void {
      const span = channels.get(userId)?.spans.at(-1);
      if (span) span.endMs = nowMs();
    },
    addUser(userId: string, login: string): void {
      users.set(userId, login);
    },
    /** Paths of the calls with a token that is good, also of those beyond the limit. */
    calls,
    /** Takes what is left of this minute's points. */
    exhaust(): void {
      Object.assign(bucket, { minute: Math.floor(nowMs() / 60_000), points: 0 });
    },
    revokeTokens: (): void => tokens.clear(),
    breakDown(down: boolean): void {
      isDown = down;
    },
    stop: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
