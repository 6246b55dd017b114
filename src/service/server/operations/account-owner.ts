/** Declares the operations of the account's owner: credentials, export and deletion. */

import { exampleTopUp } from '../../billing/cards/operations.ts';
import { exampleDeposit } from '../../billing/crypto/operations.ts';
import { exampleAddress, exampleInvoice } from '../../billing/invoices/operations.ts';
import { exampleEntry } from '../../billing/ledger/operations.ts';
import {
  exampleApiKey,
  exampleApp,
  exampleOutsideSignIn,
  examplePasskey,
  exampleSession,
  exampleUser,
} from '../../domain/accounts/examples.ts';
import { AccountDelete, Export, SignInOptions } from '../../domain/accounts/record.ts';
import { exampleDestination } from '../../domain/destinations/operations.ts';
import { exampleEvent } from '../../domain/events/operations.ts';
import { exampleStream } from '../../domain/streams/examples.ts';
import { exampleUpload } from '../../domain/uploads/operations.ts';
import { exampleUptime } from '../../domain/uptime/operations.ts';
import { EXAMPLE } from '../../lib/examples.ts';
import { createOperationBuilder, deleted, record } from '../../lib/operation.ts';
import { PERSON } from '../../lib/scopes.ts';

interface Services {
  signInOptions: SignInOptions;
}

const operation = createOperationBuilder<Services>({ tag: 'account' });

export const accountOwnerOperations = [
  operation({
    id: 'getSignInOptions',
    scope: null,
    http: 'GET /sign-in-options',
    summary: 'List the ways to sign in',
    description: 'Returns the ways to sign in that the page offers. Needs no key.',
    output: record(SignInOptions),
    examples: {
      output: {
        signUp: true,
        passwordReset: true,
        providers: [{ id: 'company', name: 'Example Company' }],
        publicUrl: 'https://loops.example.com',
        supportUrl: 'mailto:help@example.com',
      },
    },
    run: ({ signInOptions }) => signInOptions,
  }),

  // It is sent while it is read, and its number is limited, so its route is written by hand.
  operation({
    id: 'exportAccount',
    scope: PERSON,
    http: 'GET /account/export',
    summary: 'Export all data of the account as one document',
    description:
      'Destination keys and API keys appear as hints only. Passwords and passkey credentials are not included. ' +
      'Neither is media.',
    output: record(Export, { attachment: 'loopstream-account.json' }),
    errors: ['server_busy'],
    isOpenWhileSuspended: true,
    examples: {
      output: {
        exportedAt: EXAMPLE.since,
        user: exampleUser,
        streams: [exampleStream],
        destinations: [exampleDestination],
        uploads: [exampleUpload],
        playlists: [],
        scenes: [],
        endpoints: [],
        events: [exampleEvent],
        uptime: [exampleUptime],
        apiKeys: [exampleApiKey],
        apiKeyPolicy: { maxKeyDays: 90 },
        sessions: [exampleSession],
        connectedApps: [exampleApp],
        passkeys: [examplePasskey],
        outsideSignIns: [exampleOutsideSignIn],
        billingAddress: exampleAddress,
        ledger: [exampleEntry],
        topUps: [exampleTopUp],
        deposits: [exampleDeposit],
        invoices: [exampleInvoice],
      },
    },
  }),

  // Attempts are limited, so its route is written by hand.
  operation({
    id: 'deleteAccount',
    scope: PERSON,
    http: 'POST /account/deletion',
    summary: 'Delete the account',
    description:
      'After the response, nobody can sign in to the account. Streams go off air, and all data is deleted, media ' +
      'within a day. This cannot be undone.',
    input: AccountDelete,
    output: deleted,
    errors: ['not_confirmed'],
    isOpenWhileSuspended: true,
    examples: { input: { email: 'ada@example.com', password: 'several words of hers' } },
  }),
] as const;
