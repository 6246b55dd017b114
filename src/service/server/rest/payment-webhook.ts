/**
 * Receives Stripe's payment events. Stripe signs the bytes as sent, so this route verifies a body before it parses it. A failure on
 * our side returns 5xx: Stripe then retries for days, and the job fetches missing events (job.ts).
 */
import type { Readable } from 'node:stream';
import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import type { EventOutcome } from '../../billing/cards/events.ts';
import type { TopUpService } from '../../billing/cards/service.ts';
import { AppError } from '../../lib/errors.ts';
import { readBody } from '../http/body.ts';

const BODY_MS = 30_000;

export interface WebhookDeps {
  topUps: Pick<TopUpService, 'readEvent' | 'handleEvent'>;
  serve: (app: FastifyInstance, handler: RouteHandlerMethod) => void;
  observe?: ((outcome: EventOutcome | 'forged' | 'failed') => void) | undefined;
}

/** Must be a plugin of its own: its body parser applies to nothing else. */
export async function webhookRoutes(app: FastifyInstance, { topUps, observe, serve }: WebhookDeps): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (_request: unknown, payload: Readable) => readBody(payload, BODY_MS));
  serve(app, async ({ body, headers, log }) => {
    try {
      const event = topUps.readEvent(Buffer.isBuffer(body) ? body : Buffer.alloc(0), header(headers));
      const outcome = await topUps.handleEvent(event);
      observe?.(outcome);
      log.info({ eventID: event.id, type: event.type, outcome }, 'an event of the payment provider');
      return { received: true };
    } catch (error) {
      observe?.(error instanceof AppError && error.code === 'webhook_forged' ? 'forged' : 'failed');
      throw error;
    }
  });
}

const header = ({ 'stripe-signature': value }: Record<string, string | string[] | undefined>): string | undefined =>
  Array.isArray(value) ? value[0] : value;
