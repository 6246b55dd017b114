#!/usr/bin/env node
/** The role switch of the whole product: the roles of the operator and its pods, and those of the hosted service. One role per process. */
import { CORE_ROLES } from '../core/roles.ts';
import { server } from '../core/server.ts';
import { type Roles, start } from '../core/start.ts';

const SERVERS: Roles = {
  api: {
    group: 'server',
    summary: 'serves REST, GraphQL, the agent tools and the dashboard',
    run: server(
      'api',
      async () => (await import('./server/setup/settings.ts')).apiConfig,
      async () => (await import('./server/main.ts')).runApi,
      { isTraced: true },
    ),
  },
  billing: {
    group: 'server',
    summary: 'meters time on air, charges accounts and processes payments',
    run: server(
      'billing',
      async () => (await import('./billing/setup/settings.ts')).billingConfig,
      async () => (await import('./billing/main.ts')).runBilling,
    ),
  },
};

const COMMANDS: Roles = {
  migrate: {
    group: 'command',
    summary: 'updates the schema of the database',
    run: async () => (await import('./server/migrate.ts')).migrateCommand(),
  },
  keys: {
    group: 'command',
    summary: 'creates an API key for an account',
    run: async (args) => (await import('./auth/keys-command.ts')).keysCommand(args),
  },
  admin: {
    group: 'command',
    summary: "runs tasks of the service's staff: credit, accounts, audits",
    run: async (args) => (await import('./billing/audit/admin/command.ts')).adminCommand(args),
  },
  clients: {
    group: 'command',
    summary: 'lists OAuth clients and marks the verified ones',
    run: async (args) => (await import('./auth/clients-command.ts')).clientsCommand(args),
  },
  'sweep-plan': {
    group: 'command',
    summary: 'prints unsigned transactions that collect the funds of crypto deposits',
    run: async (args) => (await import('./billing/crypto/sweep-command.ts')).sweepPlanCommand(args),
  },
};

await start({ ...SERVERS, ...CORE_ROLES, ...COMMANDS });
