/** Asking the GraphQL API in tests. */
import type { Client } from '../system/api.ts';

export interface Result {
  data?: Record<string, unknown> | null;
  errors?: { message: string; path?: (string | number)[]; extensions: { code: string } & Record<string, unknown> }[];
}

/** Asks as a client does, and answers what came. */
export const asker =
  (client: Client) =>
  async (query: string, variables?: Record<string, unknown>): Promise<Result> =>
    (await client.call<Result>('POST', '/graphql', { query, variables })).body;
