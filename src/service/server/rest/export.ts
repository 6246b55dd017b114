/** Sends the export of an account while it is read. */
import type { Readable } from 'node:stream';
import type { Principal } from '../../lib/scopes.ts';
import type { Handlers } from './adapter.ts';

export interface ExportHandlerDeps {
  /** Resolves to the text of one JSON object. */
  exportAccount: (principal: Principal, now: Date) => Promise<Readable>;
}

export const exportHandlers = ({ exportAccount }: ExportHandlerDeps): Handlers => ({
  async exportAccount({ principal }, reply) {
    const document = await exportAccount(principal, new Date());
    return reply
      .type('application/json; charset=utf-8')
      .header('content-disposition', 'attachment; filename="loopstream-account.json"')
      .send(document);
  },
});
