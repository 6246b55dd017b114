/**
 * What the tests of the contract are run against: any implementation, by LOOPSTREAM_URL (its origin) and
 * LOOPSTREAM_API_KEY (of an account that has nothing yet), or else ours, with a stand-in for its operator. They know of it only
 * what HTTP tells.
 */
import { startTestApi } from './api.ts';
import { standIn } from './standin.ts';

export interface Target {
  /** `{base_url}` of the contract, which ends in its version. */
  base: string;
  graphql: string;
  key: string;
  stop(): Promise<void>;
}

export async function openTarget(): Promise<Target> {
  const { LOOPSTREAM_URL: url, LOOPSTREAM_API_KEY: key } = process.env;
  if (url !== undefined && key !== undefined)
    return { base: `${url}/v1`, graphql: `${url}/graphql`, key, stop: async () => undefined };
  const api = await startTestApi();
  const over = new AbortController();
  await standIn(api, over.signal);
  return {
    base: `${api.url}/v1`,
    graphql: `${api.url}/graphql`,
    key: (await api.client('contract')).key,
    stop: async () => {
      over.abort();
      await api.stop();
    },
  };
}
