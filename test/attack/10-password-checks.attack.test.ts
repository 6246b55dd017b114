/** Attacks password checks: they are expensive by intention, so a flood of wrong ones must not keep an honest person out. */
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownPage, type Person, startTestSite, type TestSite } from '../kit/make/oauth.ts';

const FLOOD = 150;
const HONEST = 3;
const FROM_ELSEWHERE = '127.0.0.2';

let site: TestSite;
let ada: Person;

beforeAll(async () => {
  site = await startTestSite();
  ada = await site.person('ada');
});
afterAll(async () => {
  await site?.stop();
});

interface Outcome {
  status: number;
  code: string | undefined;
}

/** Resolves to the answer's status and code. */
function signIn(email: string, password: string, localAddress?: string): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const sending = request(
    `${site.url}/api/auth/sign-in/email`,
    { method: 'POST', headers: ownPage(site.config.publicUrl), ...(localAddress && { localAddress }), agent: false },
    async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      resolve({ status: response.statusCode ?? 0, code: (JSON.parse(text) as { code?: string }).code });
    },
  );
  sending.on('error', reject).end(JSON.stringify({ email, password }));
  return promise;
}

test('a flood from one address: an honest sign-in elsewhere waits for next to none of it, and the flood’s line ends', async () => {
  let checked = 0;
  const flood = Array.from({ length: FLOOD }, async (_, n) => {
    const answer = await signIn(`nobody${n}@example.com`, 'wrong-password-1', FROM_ELSEWHERE);
    if (answer.status === 401) checked++;
    return answer;
  });
  await expect.poll(() => checked).toBeGreaterThan(0);
  const before = checked;
  for (let i = 0; i < HONEST; i++) expect(await signIn(ada.email, ada.password)).toMatchObject({ status: 200 });
  const meanwhile = checked - before;
  const answers = await Promise.all(flood);
  const ofStatus = (status: number) => answers.filter((answer) => answer.status === status).length;
  expect(ofStatus(429)).toBeGreaterThan(FLOOD / 4);
  expect(ofStatus(401) + ofStatus(429)).toBe(FLOOD);
  expect(answers.find(({ status }) => status === 429)?.code).toBe('rate_limited');
  // Two of the flood are at work at any time. In order of arrival, a hundred checks would have come first.
  expect(meanwhile).toBeLessThan(6 * HONEST);
});

test('a flood against one account from one address does not affect its owner elsewhere', async () => {
  const flood = Array.from({ length: FLOOD }, () => signIn(ada.email, 'wrong-password-1', FROM_ELSEWHERE));
  expect(await signIn(ada.email, ada.password)).toMatchObject({ status: 200 });
  await Promise.all(flood);
});
