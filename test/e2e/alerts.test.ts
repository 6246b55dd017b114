/** Tests that people are told of a real stream that goes off air and comes back: by mail, in a chat, and by a template. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putOnAir } from '../../tools/local/demo.ts';
import type { ShownMail } from '../../tools/local/mailbox-page.ts';
import { type Chats, startChats } from '../kit/fake/chats.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { serveDir, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { ROOT } from '../kit/system/system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const dir = tempDir();
let media: WebServer;
let system: SharedSystem;
let receiver: RtmpServer;
let chats: Chats;
let id: string;

beforeAll(async () => {
  [system, receiver, chats, media] = await Promise.all([
    shareSystem(),
    startRtmpServer({ record: join(dir, 'recordings') }),
    startChats(),
    serveDir(join(ROOT, 'tools/local/demo')),
  ]);
  const { apiUrl, apiKey } = system.facts;
  const mediaUrl = `${media.url}/bigbuckbunny.mp4`;
  const wish = { apiUrl, apiKey, mediaUrl, name: 'Night loop', rtmpUrl: receiver.url, rtmpKey: 'night-loop' };
  id = await putOnAir(wish, { detail: () => {}, signal: AbortSignal.timeout(300_000) });
}, 600_000);
afterAll(async () => {
  if (id) await system.client.streams.delete(id);
  await Promise.all([receiver?.close(), chats?.close(), media?.close()]);
});

async function findMail(subject: RegExp): Promise<ShownMail> {
  const { email, mailUrl } = system.facts;
  return until(
    `a mail about ${subject}`,
    async () => {
      const mails = (await (await fetch(new URL('mails.json', mailUrl ?? ''))).json()) as ShownMail[];
      return mails.find((mail) => mail.to.includes(email ?? '') && subject.test(mail.subject));
    },
    120_000,
  );
}

const confirm = async (endpointId: string, text: string) => {
  const [code = ''] = /\b\d{8}\b/.exec(text) ?? [];
  expect(await system.client.endpoints.verify(endpointId, { code })).toMatchObject({ state: 'active' });
};

test('a receiver that fails is told with its cause and a link, and its return with the length of the outage', async () => {
  const { endpoints } = system.client;
  const rule = { offAirSeconds: 5 };
  const types = ['stream.off_air' as const];
  const { email } = system.facts;
  const mail = await endpoints.create({ kind: 'mail', address: email ?? '', rule, types });
  expect(mail.state, 'the account’s own address needs no code').toBe('active');
  const slack = await endpoints.create({ kind: 'slack', url: chats.urls.slack, rule, types });
  await confirm(slack.id, (await chats.postWith('slack', 'Your code is')).text);
  const body = '{{kind}} {{offAirSeconds}} {{text}} {{link}}';
  const template = await endpoints.create({ kind: 'template', url: chats.urls.ntfy, template: { body }, rule, types });
  await confirm(template.id, (await chats.postWith('ntfy', 'code')).text);

  await receiver.stop();
  const post = await chats.postWith('slack', 'is off air');
  expect(post.text).toMatch(/Off air since .+ UTC\./);
  expect(post.text).toContain('What to do');
  expect(post.text).toContain(`/streams/${id}`);
  expect((await findMail(/Night loop.+ is off air/)).text).toContain(`/streams/${id}`);
  await chats.postWith('ntfy', /^\s*off_air 0 Off air since/);

  await receiver.start();
  await findMail(/Night loop.+ is on air again/);
  const { text } = await chats.postWith('ntfy', /^\s*back \d+ It was off air for/);
  const seconds = Number(/back (\d+)/.exec(text)?.[1]);
  const { data: events } = await system.client.events.list({ objectID: id, types: 'stream.recovered' }).page();
  expect(seconds).toBe(events.at(-1)?.data.offAirSeconds);
  expect(chats.posts.filter(({ chat }) => chat === 'slack').length, 'the code, off air, and back').toBe(3);
}, 300_000);
