/**
 * Tests the way from a stream off air to people without the API server, on the configuration of docs/alertmanager.md: the operator's metrics,
 * a real Prometheus with our rules, a real Alertmanager, and servers for mail and posts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { buildObjectSeries } from '../../../src/core/operator/metrics/series.ts';
import type { LoopStream } from '../../../src/core/resources/stream/resource.ts';
import { environment } from '../../../src/core/settings/environment.ts';
import { run } from '../../../tools/process/run.ts';
import { type Chats, startChats } from '../../kit/fake/chats.ts';
import { startSmtp, type TestSmtp } from '../../kit/fake/smtp.ts';
import { NOW, stream } from '../../kit/make/operator.ts';
import { type Alertmanager, startAlertmanager } from '../../kit/real/alertmanager.ts';
import { type Prometheus, startPrometheus } from '../../kit/real/prometheus.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const RUNBOOKS = 'https://git.example.com/loopstream/docs/runbooks';
const [, DOCUMENTED = ''] =
  /```yaml\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/alertmanager.md'), 'utf8')) ?? [];
/** Two minutes and more, which Alertmanager's own waits come on top of. */
const LIMIT_MS = 300_000;

const dir = tempDir();
let chats: Chats;
let smtp: TestSmtp;
let alertmanager: Alertmanager;
let prometheus: Prometheus;
let shown: LoopStream;
const operator = createServer((_, response) => response.end([...buildObjectSeries([shown], [])].join('')));

type Status = NonNullable<LoopStream['status']>;
const withStatus = (status: Partial<Status>): LoopStream => ({ ...stream(), status: status as Status });
const OFF_AIR = withStatus({
  phase: 'reconnecting',
  conditions: [
    {
      type: 'Degraded',
      status: 'True',
      reason: 'PublishRejected',
      message: 'The server refuses the key.',
      lastTransitionTime: NOW.toISOString(),
    },
  ],
});
const ON_AIR = withStatus({ phase: 'live', liveSince: NOW.toISOString(), conditions: [] });

interface RuleFile {
  groups: { name: string; rules: { alert: string; for?: string }[] }[];
}

/** The rules with the address of the pages, as the chart fills it in, and without the time for which an alert has to last. */
function writeRules(): string {
  const text = readFileSync(join(ROOT, 'charts/loopstream/rules/alerts.yaml'), 'utf8');
  const { groups } = parse(text.replaceAll('docs/runbooks', RUNBOOKS)) as RuleFile;
  const [streams] = groups;
  const rules = (streams?.rules ?? []).map(({ for: _, ...rule }) => rule);
  const file = join(dir, 'rules.yaml');
  writeFileSync(file, stringify({ groups: [{ ...streams, rules }] }));
  return file;
}

const configure = (): string =>
  DOCUMENTED.replace('mail.example.com:587', `127.0.0.1:${smtp.port}\n  smtp_require_tls: false`)
    .replace(/ {2}smtp_auth_\w+: .*\n/g, '')
    .replace('https://hooks.slack.com/services/T00000000/B00000000/secret', chats.urls.slack);

beforeAll(async () => {
  shown = ON_AIR;
  [chats, smtp] = await Promise.all([startChats(), startSmtp()]);
  await new Promise<void>((done) => operator.listen(0, '127.0.0.1', done));
  alertmanager = await startAlertmanager(configure());
  const address = `127.0.0.1:${(operator.address() as AddressInfo).port}`;
  prometheus = await startPrometheus([{ job: 'operator', address }], {
    ruleFiles: [writeRules()],
    alertmanagers: [alertmanager.address],
  });
});
afterAll(async () => {
  await prometheus?.stop();
  await alertmanager?.stop();
  operator.close();
  await Promise.all([chats?.close(), smtp?.close()]);
});

test('the documented configuration is one that Alertmanager reads as it stands', async () => {
  const file = join(dir, 'alertmanager.yml');
  writeFileSync(file, DOCUMENTED);
  const { ok, stdout, stderr } = await run('amtool', ['check-config', file], { env: environment() });
  expect(ok, stdout + stderr).toBe(true);
});

test('a stream off air is one mail and one post, with cause and remedy, and its end one more each', {
  timeout: LIMIT_MS,
}, async () => {
  const countMessages = () => ({ mails: smtp.mails.length, posts: chats.posts.length });
  const summary = 'Stream tv/bunny should be on air, but is not.';
  const page = `${RUNBOOKS}/LoopStreamOffAir.md`;
  shown = OFF_AIR;
  await until('mail and post say that it is off air', () => smtp.mails.length > 0 && chats.posts.length > 0, LIMIT_MS);
  expect(countMessages()).toEqual({ mails: 1, posts: 1 });
  const [mail, post] = [smtp.mails[0]?.mail, chats.posts[0]];
  expect(mail?.subject).toBe(summary);
  for (const text of [mail?.text ?? '', post?.text ?? '']) {
    expect(text).toContain('No destination has accepted media');
    expect(text).toContain('Cause: PublishRejected');
    expect(text).toContain(`What to do: ${page}`);
    expect(text).not.toMatch(/no value|undefined/);
  }
  expect(post?.text).toContain(summary);
  shown = ON_AIR;
  await until('mail and post say that it is over', () => smtp.mails.length > 1 && chats.posts.length > 1, LIMIT_MS);
  expect(smtp.mails[1]?.mail.subject).toBe(`Over: ${summary}`);
  expect(smtp.mails[1]?.mail.text).toMatch(/^It is over since .+ UTC, and began .+ UTC\.$/m);
  expect(chats.posts[1]?.text).toContain(`Over: ${summary}`);
  expect(countMessages()).toEqual({ mails: 2, posts: 2 });
});
