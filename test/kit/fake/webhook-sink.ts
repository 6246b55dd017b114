/** Receives webhooks over HTTP, checks their signatures as receivers do, and answers as a test says. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface ReceivedWebhook {
  path: string;
  method: string;
  headers: Record<string, string>;
  text: string;
  /** Of the header. */
  id: string;
  /** Of the body, where it is JSON. */
  body: { id?: string; type?: string; seq?: number; objectID?: string; data?: Record<string, unknown> };
  at: number;
}

/** Answers with a status and a body, or by hand. */
export type SinkAnswer =
  | { status: number; body?: string; headers?: Record<string, string> }
  | ((response: ServerResponse, webhook: ReceivedWebhook) => void);

export interface WebhookSink {
  url: string;
  /** Webhooks that arrived, without verifications. */
  received: ReceivedWebhook[];
  verifications: ReceivedWebhook[];
  /** Says how the next requests are answered. */
  answer: (webhook: ReceivedWebhook) => SinkAnswer;
  /** Whether it answers verifications with the code. */
  confirms: boolean;
  /** Throws where the signature is wrong for this secret. */
  check(webhook: ReceivedWebhook, secret: string): void;
  /** Ends the server, and begins again on the same port. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  close(): Promise<void>;
}

async function readText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

const parseBody = (text: string): ReceivedWebhook['body'] => {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
};

export async function startWebhookSink(): Promise<WebhookSink> {
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const text = await readText(request);
    const headers = request.headers as Record<string, string>;
    const webhook: ReceivedWebhook = {
      path: request.url ?? '',
      method: request.method ?? '',
      headers,
      text,
      id: headers['webhook-id'] ?? '',
      body: parseBody(text),
      at: Date.now(),
    };
    if (webhook.body.type === 'endpoint.verification') {
      sink.verifications.push(webhook);
      return void response.end(sink.confirms ? JSON.stringify({ code: webhook.body.data?.code }) : 'ok');
    }
    sink.received.push(webhook);
    const answer = sink.answer(webhook);
    if (typeof answer === 'function') return answer(response, webhook);
    response.writeHead(answer.status, answer.headers).end(answer.body ?? '');
  };
  let server = createServer(listener);
  const listen = async (port: number) => {
    server = createServer(listener);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const end = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  const port = await listen(0);
  const sink: WebhookSink = {
    url: `http://127.0.0.1:${port}`,
    received: [],
    verifications: [],
    answer: () => ({ status: 200, body: 'ok' }),
    confirms: true,
    check: ({ text, headers }, secret) => void new Webhook(secret).verify(text, headers),
    pause: end,
    resume: async () => void (await listen(port)),
    close: end,
  };
  return sink;
}
