/**
 * Provides the auth library with clients that a document of their own describes: each is stored as a client with that
 * id.
 */
import { extendOAuthProvider } from '@better-auth/oauth-provider';
import type { BetterAuthPlugin } from 'better-auth';
import { type ClientDocuments, isDocumentId } from './client-documents.ts';
import type { Registration } from './requests.ts';

/** Kept with each such client, so that it is known to be no registered one. */
const DISCOVERY = 'client-document';
const MODEL = 'oauthClient';

type ClientRecord = Record<string, unknown> & { clientId: string };

interface LibraryContext {
  context: {
    adapter: {
      create(row: { model: string; data: object }): Promise<ClientRecord>;
      update(change: {
        model: string;
        where: { field: string; value: string }[];
        update: object;
      }): Promise<ClientRecord | null>;
      findOne(query: { model: string; where: { field: string; value: string }[] }): Promise<ClientRecord | null>;
    };
  };
}

const buildColumns = (metadata: Registration) => ({
  name: metadata.client_name ?? null,
  uri: metadata.client_uri ?? null,
  icon: metadata.logo_uri ?? null,
  tos: metadata.tos_uri ?? null,
  policy: metadata.policy_uri ?? null,
  contacts: metadata.contacts ?? null,
  redirectUris: metadata.redirect_uris,
  applicationType: metadata.application_type,
});

const isSame = (row: ClientRecord, columns: Record<string, unknown>): boolean =>
  Object.entries(columns).every(([name, value]) => JSON.stringify(row[name] ?? null) === JSON.stringify(value));

async function keep(
  { context: { adapter } }: LibraryContext,
  clientId: string,
  metadata: Registration,
  row: ClientRecord | null,
) {
  const columns = buildColumns(metadata);
  const where = [{ field: 'clientId', value: clientId }];
  const updatedAt = new Date();
  if (row)
    return isSame(row, columns) ? row : adapter.update({ model: MODEL, where, update: { ...columns, updatedAt } });
  const data = {
    ...columns,
    clientId,
    clientDiscoveryId: DISCOVERY,
    createdAt: updatedAt,
    updatedAt,
    tokenEndpointAuthMethod: 'none',
    grantTypes: ['authorization_code', 'refresh_token'],
    responseTypes: ['code'],
  };
  try {
    return await adapter.create({ model: MODEL, data });
  } catch (error) {
    // Two at once: the id is unique, and the other one has made it.
    const other = await adapter.findOne({ model: MODEL, where });
    if (other) return other;
    throw error;
  }
}

export const documentClients = (documents: ClientDocuments): BetterAuthPlugin => ({
  id: 'client-documents',
  init: (context) => {
    extendOAuthProvider(context, {
      clientDiscovery: {
        id: DISCOVERY,
        matches: isDocumentId,
        // The document was loaded before the request took its turn (server/auth/mount.ts). A host that is away for a
        // while takes nothing from users who have allowed its client.
        resolve: (async (within: LibraryContext, clientId: string, existing: ClientRecord | null) => {
          const found = documents.find(clientId);
          if (typeof found === 'string') return found === 'away' ? existing : null;
          return keep(within, clientId, found.metadata, existing);
        }) as never,
      },
    });
  },
});
