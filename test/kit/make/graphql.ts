/** Queries the GraphQL API in tests. */
import type { Client } from '../system/api.ts';

export interface Result {
  data?: Record<string, unknown> | null;
  errors?: { message: string; path?: (string | number)[]; extensions: { code: string } & Record<string, unknown> }[];
}

/** Sends a query as a client does, and returns the answer. */
export const createQuery =
  (client: Client) =>
  async (query: string, variables?: Record<string, unknown>): Promise<Result> =>
    (await client.call<Result>('POST', '/graphql', { query, variables })).body;
