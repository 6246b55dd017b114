/**
 * Runs a server that takes posts as Slack, Discord, Telegram and ntfy do: it checks what they check, refuses as they refuse, and keeps what
 * people would see. Close it afterwards.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../wait.ts';

export type Chat = 'slack' | 'discord' | 'telegram' | 'ntfy';

export interface Post {
  chat: Chat;
  /** All text that people see, as it was sent. */
  text: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface Chats {
  /** Address of each chat, to which a template adds nothing but its query. */
  urls: Record<Chat, string>;
  posts: Post[];
  /** Returns the newest post of a chat that holds `text`. */
  postWith(chat: Chat, text: string | RegExp): Promise<Post>;
  close(): Promise<void>;
}

type Headed = Pick<IncomingMessage, 'headers'>;

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Each text of a value, and of what it holds. */
const listTexts = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : [];
};

function parseJson({ headers }: Headed, body: string): Record<string, unknown> {
  if (!headers['content-type']?.startsWith('application/json')) throw new Refusal(400, 'invalid_payload');
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    throw new Refusal(400, 'invalid_payload');
  }
}

function takeSlack(request: Headed, body: string): string {
  const { text, attachments = [] } = parseJson(request, body) as { text?: string; attachments?: object[] };
  if (!text && attachments.length === 0) throw new Refusal(400, 'no_text');
  if ((text?.length ?? 0) > 40_000 || attachments.length > 100) throw new Refusal(400, 'too_many_attachments');
  return listTexts([text, attachments]).join('\n');
}

interface Embed {
  title?: string;
  description?: string;
  fields?: { name: string; value: string }[];
}

function takeDiscord(request: Headed, body: string): string {
  const { content = '', embeds = [] } = parseJson(request, body) as { content?: string; embeds?: Embed[] };
  if (content === '' && embeds.length === 0) throw new Refusal(400, '{"message": "Cannot send an empty message"}');
  const isShort = ({ title = '', description = '', fields = [] }: Embed) =>
    title.length <= 256 &&
    description.length <= 4096 &&
    fields.length <= 25 &&
    fields.every(({ name, value }) => name.length <= 256 && value.length >= 1 && value.length <= 1024);
  const size = listTexts(embeds).join('').length;
  if (content.length > 2000 || embeds.length > 10 || !embeds.every(isShort) || size > 6000)
    throw new Refusal(400, '{"code": 50035, "message": "Invalid Form Body"}');
  return listTexts([content, embeds]).join('\n');
}

function takeTelegram(request: Headed, body: string): string {
  const isForm = request.headers['content-type'] === 'application/x-www-form-urlencoded';
  const fields = isForm ? Object.fromEntries(new URLSearchParams(body)) : parseJson(request, body);
  if (!fields.chat_id) throw new Refusal(400, '{"ok": false, "description": "Bad Request: chat not found"}');
  const text = String(fields.text ?? '').trim();
  if (text === '') throw new Refusal(400, '{"ok": false, "description": "Bad Request: message text is empty"}');
  if (text.length > 4096) throw new Refusal(400, '{"ok": false, "description": "Bad Request: message is too long"}');
  return text;
}

/** It reads UTF-8 in headers. */
const readHeader = (value: string | string[] | undefined): string =>
  Buffer.from([value ?? ''].flat().join(), 'latin1').toString('utf8');

function takeNtfy({ headers }: Headed, body: string): string {
  if (Buffer.byteLength(body) > 4096) throw new Refusal(400, '{"code": 40041, "error": "message too large"}');
  const priority = readHeader(headers.priority);
  if (priority !== '' && !/^([1-5]|min|low|default|high|max|urgent)$/.test(priority))
    throw new Refusal(400, '{"code": 40007, "error": "invalid priority parameter"}');
  return [readHeader(headers.title), body, readHeader(headers.click)].join('\n');
}

const PATHS: [path: RegExp, chat: Chat, take: (request: Headed, body: string) => string][] = [
  [/^\/services\/T1\/B1\/secret$/, 'slack', takeSlack],
  [/^\/api\/webhooks\/1\/secret$/, 'discord', takeDiscord],
  [/^\/bot1:secret\/sendMessage$/, 'telegram', takeTelegram],
  [/^\/channel-alerts$/, 'ntfy', takeNtfy],
];

/** Returns what people see of a post. Throws as the chat refuses it. */
export const takePost = (chat: Chat, request: Headed, body: string): string => {
  const found = PATHS.find(([, one]) => one === chat);
  if (!found) throw new Refusal(404, 'not found');
  return found[2](request, body);
};

export async function startChats(): Promise<Chats> {
  const posts: Post[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const path = (request.url ?? '').split('?')[0] ?? '';
      const found = PATHS.find(([pattern]) => pattern.test(path));
      try {
        if (!found || request.method === 'GET') throw new Refusal(404, 'not found');
        const [, chat, take] = found;
        posts.push({ chat, text: take(request, body), headers: request.headers, body });
        response.end(chat === 'slack' ? 'ok' : '{"ok": true}');
      } catch (error) {
        response.statusCode = error instanceof Refusal ? error.status : 500;
        response.end(String(error instanceof Error ? error.message : error));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    urls: {
      slack: `${origin}/services/T1/B1/secret`,
      discord: `${origin}/api/webhooks/1/secret`,
      telegram: `${origin}/bot1:secret/sendMessage`,
      ntfy: `${origin}/channel-alerts`,
    },
    posts,
    postWith: (chat, text) =>
      until(`a post to ${chat} with ${text}`, () =>
        posts.findLast(
          (post) => post.chat === chat && (typeof text === 'string' ? post.text.includes(text) : text.test(post.text)),
        ),
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
