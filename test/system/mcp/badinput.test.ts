/** Tests that a tool names the mistake in any wrong input; nothing breaks, and nothing of it is stored as something else. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ERRORS, type ErrorCode } from '../../../src/service/lib/errors.ts';
import { describedTools } from '../../../src/service/server/mcp/tools.ts';
import { type Agent, connectAgent, withKey } from '../../kit/make/agents.ts';
import { type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';

let started: StreamsApi;
let agent: Agent;
let streamID: string;

beforeAll(async () => {
  started = await startStreamsApi();
  agent = await connectAgent(started.api.url, withKey(started.ada.key));
  streamID = (await started.create()).id;
});
afterAll(async () => {
  await agent?.close();
  await started?.api.stop();
});

/** Invalid argument names, some of which every object has in JavaScript. */
const STRANGE = ['__proto__', 'constructor', 'toString', '', 'a/b~c', 'ID', 'accountId'];
const TEXTS = [
  ...['', ' ', '0', 'null', 'q_1080p', 'VIDEO', 'video', 'sequential', 'x'.repeat(5000), '2027-02-30T00:00:00Z'],
  ...["'; drop table auth.user; --", '<script>alert(1)</script>', '../../etc/passwd', '{{7*7}}', '%00', '\u0000'],
  ...[
    '\u202egnp.exe',
    '👩‍👩‍👧‍👦',
    'e\u0301',
    'http://169.254.169.254/',
    'file:///etc/passwd',
    'rtmp://a:b@c/d',
    '* * * * *',
  ],
];

const value = () =>
  fc.oneof(
    fc.constantFrom(...TEXTS, streamID, started.destinationID, started.videoUploadObjectID, started.videoList),
    fc.constantFrom(null, true, -1, 0, 1, 1.5, 1e21, 2 ** 53),
    fc.array(fc.constantFrom<unknown>(null, 1, 'x', {}, { uploadObjectID: '' }, { op: 'move' }, []), { maxLength: 3 }),
    fc.object({ maxDepth: 2, withNullPrototype: false }),
  );

/** A tool and its arguments: mostly known names, since otherwise nothing would be checked. */
const calls = () =>
  fc.constantFrom(...describedTools().values()).chain(({ name, listed }) => {
    const known = Object.keys(listed.inputSchema.properties ?? {});
    const names = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...known, 'x') }, fc.constantFrom(...STRANGE));
    return fc.record({ name: fc.constant(name), entries: fc.array(fc.tuple(names, value()), { maxLength: 6 }) });
  });

/** Writes JSON that may have `__proto__` among its names. */
const asJson = (entries: [string, unknown][]): string =>
  `{${[...new Map(entries)].map(([name, it]) => `${JSON.stringify(name)}:${JSON.stringify(it)}`).join(',')}}`;

test('the result is an answer, or an error that names the fault', async () => {
  await fc.assert(
    fc.asyncProperty(calls(), async ({ name, entries }) => {
      const text = asJson(entries);
      const { isError, output, text: said } = await agent.call(name, JSON.parse(text));
      if (!isError) return;
      const { status } = ERRORS[output.code as ErrorCode];
      expect(status, `${name} ${text}: ${said}`).toBeLessThan(500);
      if (output.code === 'validation_failed') expect(output.errors.length).toBeGreaterThan(0);
      expect(said).not.toMatch(/undefined|\[object|TypeError|at .*\.ts:/);
    }),
    { numRuns: 400 },
  );
});
