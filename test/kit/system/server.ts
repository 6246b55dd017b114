/** Starts the HTTP server alone, with stubbed services, without Kubernetes or a database. */
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { AppError } from '../../../src/service/lib/errors.ts';
import { type Principal, SCOPES, type Scope } from '../../../src/service/lib/scopes.ts';
import { buildServer, type ServerDeps } from '../../../src/service/server/app/app.ts';
import { type ApiConfig, apiConfig } from '../../../src/service/server/setup/settings.ts';
import { ROOM } from '../make/limits.ts';

export interface TestServer {
  app: FastifyInstance;
  /** Listens on a free port. */
  listen(): Promise<{ url: string; port: number }>;
  logs(): string;
}

export interface ServerOptions
  extends Partial<Pick<ServerDeps, 'auth' | 'db' | 'isSuspended' | 'counter' | 'leaving' | 'stopping' | 'metrics'>> {
  /** Settings without their prefix. */
  settings?: Record<string, string>;
  /** In place of what the settings say, for what no setting says. */
  config?: Partial<ApiConfig>;
  timeouts?: Partial<ApiConfig['timeouts']>;
  scopes?: readonly Scope[];
  /** The account service's method. */
  me?: () => unknown;
  services?: object;
}

/** By default, a key's sender is the account of that name. Close `app` afterwards. */
export async function buildTestServer(options: ServerOptions = {}): Promise<TestServer> {
  let logs = '';
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logs += chunk;
      done();
    },
  });
  const never = new AbortController().signal;
  const authenticate = async ({ apiKey }: { apiKey: string | undefined }): Promise<Principal> => {
    if (!apiKey) throw new AppError('unauthenticated', 'Send an API key in the header X-API-Key.');
    return { accountId: apiKey, userId: apiKey, scopes: new Set(options.scopes ?? SCOPES), via: 'key' };
  };
  const given = Object.entries(options.settings ?? {}).map(([name, value]) => [`LOOPSTREAM_${name}`, value]);
  const required = { LOOPSTREAM_DATABASE_URL: 'postgres://none', LOOPSTREAM_AUTH_SECRET: 's' };
  const config = apiConfig({ ...required, ...Object.fromEntries(given) });
  const deps = {
    config: { ...config, timeouts: { ...config.timeouts, ...options.timeouts }, ...options.config },
    auth: options.auth ?? { authenticate },
    services: { account: { me: options.me ?? (() => ({})) }, uploads: { incoming: {} }, ...options.services },
    accountOwner: {},
    leaving: options.leaving ?? never,
    stopping: options.stopping ?? never,
    db: options.db,
    quotas: ROOM,
    isSuspended: options.isSuspended,
    counter: options.counter,
    metrics: options.metrics,
    log: pino({ level: 'debug' }, sink),
    health: async () => ({ kubernetes: 'ok', database: 'ok' }),
    version: '1',
    ageMs: () => 0,
  } as unknown as ServerDeps;
  const app = await buildServer(deps);
  return {
    app,
    logs: () => logs,
    async listen() {
      await app.listen({ host: '127.0.0.1', port: 0 });
      const { port } = app.server.address() as AddressInfo;
      return { url: `http://127.0.0.1:${port}`, port };
    },
  };
}
