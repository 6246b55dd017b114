/** Serves the tools of agents over HTTP alone: `get_me` returns a person, and the other services find nothing. */

import { AppError } from '../../../../src/service/lib/errors.ts';
import { SCOPES } from '../../../../src/service/lib/scopes.ts';
import { reserveFreePort } from '../../../../tools/process/ports.ts';
import { buildTestServer } from '../../../kit/system/server.ts';

export const ADA = {
  id: 'ada',
  email: 'ada@example.com',
  firstName: 'Ada',
  lastName: null,
  createdAt: '2026-01-01T00:00:00Z',
};

const findsNothing = new Proxy(
  {},
  {
    get: () => () => {
      throw new AppError('stream_not_found', 'The account has no stream str-nope.');
    },
  },
);

export interface Tools {
  /** The address without `/mcp`. */
  url: string;
  stop(): Promise<void>;
}

/** Serves the tools to every sender of a key; with `open`, to every client, for suites without keys. */
export async function serveTools({ open = false } = {}): Promise<Tools> {
  const port = await reserveFreePort();
  const url = `http://127.0.0.1:${port}`;
  const principal = { accountId: 'ada', userId: 'ada', scopes: new Set(SCOPES), via: 'key' as const };
  const { app } = await buildTestServer({
    settings: { PUBLIC_URL: url, CORS_ORIGINS: `http://localhost:${port}` },
    services: {
      account: { me: () => ADA },
      streams: findsNothing,
      destinations: findsNothing,
      playlists: findsNothing,
      uploads: findsNothing,
    },
    ...(open && { auth: { authenticate: async () => principal } as never }),
  });
  await app.listen({ host: '127.0.0.1', port });
  return {
    url,
    async stop() {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}
