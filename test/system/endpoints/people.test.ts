/** Tests messages to people on real servers: mail, chats and templates get what happened, once, and in time. */
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import { applyNext } from '../../../src/service/domain/endpoints/alerts/store.ts';
import { decide } from '../../../src/service/domain/endpoints/alerts/worker.ts';
import type { Delivery, Endpoint } from '../../../src/service/domain/endpoints/record.ts';
import { type AccountEventType, type EventData, NO_DATA } from '../../../src/service/domain/events/record.ts';
import { tell } from '../../../src/service/domain/events/store.ts';
import { type Chats, startChats } from '../../kit/fake/chats.ts';
import { startSmtp, type TestSmtp } from '../../kit/fake/smtp.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';

let api: TestApi;
let db: Db;
let ada: Client;
let chats: Chats;
let smtp: TestSmtp;
let made = 0;

beforeAll(async () => {
  smtp = await startSmtp();
  api = await startTestApi({ allowPrivateLinks: true, mail: { smtpUrl: smtp.url, from: 'Loops <loops@example.com>' } });
  db = createDb(createPool(api.databaseUrl, { searchPath: 'loopstream' }));
});
beforeEach(async () => {
  ada = await api.client(`ada-${++made}`);
  chats = await startChats();
});
afterEach(() => chats.close());
afterAll(async () => {
  await db?.destroy();
  await api?.stop();
  await smtp?.close();
});

interface Happening {
  type: AccountEventType;
  at: Date;
  data?: Partial<EventData>;
}

/** Records events of a stream in one transaction, as the collector does. */
const happen = (stream: string, happenings: readonly Happening[]) =>
  tell(
    db,
    { accountId: ada.accountId, object: 'stream', objectId: stream, uid: `uid-${made}-${stream}` },
    ({ seq }) => ({
      news: happenings.map(({ type, at, data }, i) => ({
        id: `evt_${made}_${stream}_${seq + i + 1}`,
        type,
        at,
        data: { ...NO_DATA, name: 'Night loop', ...data },
      })),
      mark: String(seq + happenings.length),
    }),
  );

const CAUSE = { code: 'publish_rejected', message: 'The server refuses the key.', fix: 'Enter the key again.' };
const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1000);
const call = async <T>(method: string, path: string, body?: unknown) => (await ada.call<T>(method, path, body)).body;

async function create(more: object): Promise<Endpoint> {
  const { status, body } = await ada.call<Endpoint>('POST', '/v1/endpoints', more);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

/** Enters the code that was sent in a text. */
async function confirm({ id }: Endpoint, text: string | undefined): Promise<Endpoint> {
  const [code] = /\b\d{8}\b/.exec(text ?? '') ?? [];
  const verified = await call<Endpoint>('POST', `/v1/endpoints/${id}/verify`, { code });
  expect(verified.state).toBe('active');
  return verified;
}

const SLACK = () => ({ kind: 'slack', url: chats.urls.slack, rule: { offAirSeconds: 0 } });
async function createSlack(more: object = {}): Promise<Endpoint> {
  const endpoint = await create({ ...SLACK(), ...more });
  return confirm(endpoint, (await chats.postWith('slack', 'Your code is')).text);
}
const listPosts = (chat: string) => chats.posts.filter((post) => post.chat === chat).slice(1);

describe('an outage', () => {
  test('is told with cause, remedy and link by mail, to Slack and Discord, and by a template, and its end too', async () => {
    const mailbox = `on-call-${made}@example.com`;
    const rule = { offAirSeconds: 0 };
    await createSlack();
    const mail = await create({ kind: 'mail', address: mailbox, rule });
    await confirm(mail, (await smtp.mailTo(mailbox, /code/)).text);
    const discord = await create({ kind: 'discord', url: chats.urls.discord, rule });
    await confirm(discord, (await chats.postWith('discord', 'Your code is')).text);
    const ntfy = await create({
      kind: 'template',
      url: `${chats.urls.ntfy}?from={{name}}`,
      template: {
        headers: [
          { name: 'Title', value: '{{title}}' },
          { name: 'Click', value: '{{link}}' },
        ],
        body: '{{text}}',
      },
      rule,
    });
    await confirm(ntfy, (await chats.postWith('ntfy', 'Your code is')).text);
    await happen('str-1', [
      { type: 'stream.reconnecting', at: ago(10) },
      { type: 'stream.off_air', at: ago(5), data: CAUSE },
    ]);
    const posts = await Promise.all(
      (['slack', 'discord', 'ntfy'] as const).map((chat) => chats.postWith(chat, 'is off air')),
    );
    const letter = await smtp.mailTo(mailbox, /is off air/);
    expect(letter.subject).toBe('“Night loop” is off air');
    const plain = (text: string) => text.replaceAll('\\', '');
    for (const text of [...posts.map((post) => plain(post.text)), letter.text ?? ''])
      for (const part of [CAUSE.message, CAUSE.fix, '/streams/str-1']) expect(text).toContain(part);
    await happen('str-1', [{ type: 'stream.stopped', at: new Date() }]);
    await Promise.all([
      smtp.mailTo(mailbox, /was stopped while it was off air/),
      ...(['slack', 'discord', 'ntfy'] as const).map((chat) => chats.postWith(chat, 'was stopped')),
    ]);
  });

  test('of viewers alone is told as such, and as over when they see the stream again', async () => {
    await createSlack({ types: ['platform.ended'] });
    const about = { ...CAUSE, destinationID: 'dst-1' };
    await happen('str-1', [
      { type: 'stream.live', at: ago(600) },
      { type: 'platform.ended', at: ago(300), data: about },
      { type: 'stream.degraded', at: ago(300), data: CAUSE },
    ]);
    const { text } = await chats.postWith('slack', 'is off air for viewers');
    for (const part of [CAUSE.message, CAUSE.fix, '/streams/str-1']) expect(text).toContain(part);
    await happen('str-1', [{ type: 'platform.live', at: ago(60), data: { destinationID: 'dst-1' } }]);
    expect((await chats.postWith('slack', 'is on air again for viewers')).text).toContain('for 4 min');
    expect(listPosts('slack')).toHaveLength(2);
  });

  test('that was recorded an hour late is one message that says when it was', async () => {
    await createSlack();
    await happen('str-1', [
      { type: 'stream.live', at: ago(7200) },
      { type: 'stream.reconnecting', at: ago(3600) },
      { type: 'stream.off_air', at: ago(3595), data: CAUSE },
      { type: 'stream.recovered', at: ago(3300), data: { offAirSeconds: 300 } },
      { type: 'stream.stopped', at: ago(3000) },
    ]);
    const { text } = await chats.postWith('slack', 'was off air');
    expect(text).toContain('It was off air for 5 min, from');
    expect(listPosts('slack')).toHaveLength(1);
  });
});

test('twenty outages in ten minutes are two messages, and a delivery each', async () => {
  const { id } = await create({ ...SLACK(), rule: { offAirSeconds: 10 } });
  await sql`update loopstream.endpoints set state = 'active' where id = ${id}`.execute(db);
  // The time is ahead of the server's, which so never finds the object due.
  const begin = Date.now() + 3_600_000;
  const at = (second: number) => new Date(begin + second * 1000);
  const isDue = (second: number) =>
    sql`update loopstream.alerts set wake_at = least(wake_at, ${at(second)})
    where endpoint_id = ${id}`.execute(db);
  const recordAt = async (second: number, happening: Omit<Happening, 'at'>) => {
    await db.transaction().execute(async (trx) => {
      // Nobody else reads the row before its time is set.
      await sql`lock table loopstream.alerts in share row exclusive mode`.execute(trx);
      await sql`insert into loopstream.events (id, account_id, type, object, object_id, seq, at, recorded_at, data)
        select ${`evt_${made}_${second}`}, ${ada.accountId}, ${happening.type}, 'stream', 'str-1', 1 + count(*), ${at(second)}, ${at(second)},
          ${JSON.stringify({ ...NO_DATA, name: 'Night loop', ...happening.data })}::jsonb
        from loopstream.events where account_id = ${ada.accountId}`.execute(trx);
      await sql`update loopstream.alerts set wake_at = ${at(second)} where endpoint_id = ${id}`.execute(trx);
    });
  };
  const wakeUntil = async (second: number) => {
    while (await applyNext(db, decide, at(second)));
  };
  for (let outage = 0; outage < 20; outage += 1) {
    const second = outage * 30;
    await recordAt(second, { type: 'stream.reconnecting' });
    await wakeUntil(second);
    for (let later = 1; later < 15; later += 1) await wakeUntil(second + later);
    await recordAt(second + 15, { type: 'stream.recovered', data: { offAirSeconds: 15 } });
    for (let later = 15; later < 30; later += 1) await wakeUntil(second + later);
  }
  await isDue(600);
  for (let second = 600; second < 1300; second += 10) await wakeUntil(second);
  await expect
    .poll(async () =>
      (await call<{ data: Delivery[] }>('GET', `/v1/endpoints/${id}/deliveries`)).data.map(({ state }) => state),
    )
    .toEqual(['delivered', 'delivered']);
  const [first, last] = listPosts('slack');
  expect(first?.text).toContain('is off air');
  expect(last?.text).toContain('It was off air 20 times');
});

test('several servers send each message once', async () => {
  const other = await api.replica();
  const { id } = await createSlack();
  const names = Array.from({ length: 20 }, (_, number) => `str-${number}`);
  await Promise.all(names.map((name) => happen(name, [{ type: 'stream.reconnecting', at: ago(60) }])));
  const list = async () => (await call<{ data: Delivery[] }>('GET', `/v1/endpoints/${id}/deliveries?limit=100`)).data;
  await expect.poll(async () => (await list()).filter(({ state }) => state === 'delivered').length).toBe(names.length);
  const links = listPosts('slack').map(({ text }) => /\/streams\/(\S+)/.exec(text)?.[1] ?? '');
  expect(links.sort()).toEqual(names.sort());
  await other.stop();
});

describe('an endpoint for people', () => {
  test('has its template checked as it is entered', async () => {
    const bad = { kind: 'template', url: 'https://{{name}}.example/{{text}}', template: { body: '{{text}}' } };
    const { status, body } = await ada.call('POST', '/v1/endpoints', bad);
    expect([status, body.code]).toEqual([422, 'validation_failed']);
    expect(JSON.stringify(body)).toContain('name of the receiver');
  });

  test('has to confirm a code again when its template names another receiver, and not when it is named anew', async () => {
    const body = (chat: string) => `{"chat_id": "${chat}", "text": "{{title}}\\n{{text}}"}`;
    const made = { kind: 'template', url: chats.urls.telegram, template: { body: body('ann') } };
    const { id } = await confirm(await create(made), (await chats.postWith('telegram', 'Your code is')).text);
    expect(await call('PATCH', `/v1/endpoints/${id}`, { name: 'Ann' })).toMatchObject({ name: 'Ann', state: 'active' });
    const moved = await call('PATCH', `/v1/endpoints/${id}`, { template: { body: body('victim') } });
    expect(moved).toMatchObject({ state: 'unverified' });
  });

  test('that names outages alone hears of their end, and of nothing else', async () => {
    await createSlack({ types: ['stream.off_air'] });
    await happen('str-1', [
      { type: 'stream.live', at: ago(100) },
      { type: 'stream.degraded', at: ago(90), data: CAUSE },
      { type: 'stream.reconnecting', at: ago(60) },
    ]);
    await chats.postWith('slack', 'is off air');
    await happen('str-1', [{ type: 'stream.stopped', at: ago(10) }]);
    await chats.postWith('slack', 'was stopped');
    expect(listPosts('slack')).toHaveLength(2);
  });

  test('of no types by name hears of no routine', async () => {
    await createSlack();
    await happen('str-1', [
      { type: 'stream.live', at: ago(100) },
      { type: 'stream.stopped', at: ago(90) },
      { type: 'stream.scheduled_start_missed', at: ago(80), data: CAUSE },
    ]);
    await chats.postWith('slack', 'did not start as scheduled');
    expect(listPosts('slack')).toHaveLength(1);
  });
});

test('a mailbox gets no more than its mails an hour, and the rest later', async () => {
  const mailbox = `flooded-${made}@example.com`;
  const mail = await create({ kind: 'mail', address: mailbox, rule: { offAirSeconds: 0 } });
  await confirm(mail, (await smtp.mailTo(mailbox, /code/)).text);
  for (let number = 0; number < 25; number += 1)
    await happen(`str-${number}`, [{ type: 'stream.reconnecting', at: ago(60) }]);
  const list = async () =>
    (await call<{ data: Delivery[] }>('GET', `/v1/endpoints/${mail.id}/deliveries?limit=100`)).data;
  await expect.poll(async () => (await list()).filter(({ attempts }) => attempts > 0).length).toBe(25);
  const held = (await list()).filter(({ state }) => state === 'waiting');
  expect(held.map(({ lastAnswer }) => lastAnswer?.code)).toEqual(Array(5).fill('mailbox_full'));
});
