/**
 * REST: where Stripe tells of payments. Its signature is over the bytes as they were sent, so here, unlike everywhere else,
 * a body is not parsed before it is looked at. What fails on our side is answered with 5xx: Stripe then sends it again, for
 * days, and the job asks for what did not come (job.ts).
 */
import type { Readable } from 'node:stream';
import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import type { EventOutcome } from '../../billing/cards/events.ts';
import type { TopUpService } from '../../billing/cards/service.ts';
import { AppError } from '../../lib/errors.ts';
import { readBody } from '../http/body.ts';

const BODY_MS = 30_000;

export interface WebhookDeps {
  topUps: Pick<TopUpService, 'readEvent' | 'takeEvent'>;
  /** Registers the route. */
  serve: (app: FastifyInstance, handler: RouteHandlerMethod) => void;
  observe?: ((outcome: EventOutcome | 'forged' | 'failed') => void) | undefined;
}

/** To be registered as a plugin of its own: its parser of bodies holds for nothing else. */
export async function webhookRoutes(app: FastifyInstance, { topUps, observe, serve }: WebhookDeps): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (_request: unknown, payload: Readable) => readBody(payload, BODY_MS));
  serve(app, async ({ body, headers, log }) => {
    try {
      const event = topUps.readEvent(Buffer.isBuffer(body) ? body : Buffer.alloc(0), header(headers));
      const outcome = await topUps.takeEvent(event);
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
