/**
 * Adds bounds to schemas for text that the server validates in code, so that clients know them before they send. That code still
 * validates requests, since its messages say more than a pattern. Pure: no I/O, no clock.
 */
import { DISPLAY_NAME_PATTERN } from '../../../core/lib/sentences.ts';
import type { Json, OpenApi } from './document.ts';

/** Longer ids cannot exist (`maxParamLength` of the server). */
const ID = { minLength: 1, maxLength: 512 };
const URI = { format: 'uri' };

// An address with `{stream_key}` or hidden values is not a URI.
const INGEST = { pattern: '^\\s*([Rr][Tt][Mm][Pp][Ss]?|[Ss][Rr][Tt]):' };

/** Bounds by component and field. Spaces around an address are trimmed. */
const FIELDS: Record<string, Record<string, Json>> = {
  ConnectedApp: { uri: URI },
  CryptoDeposit: { paymentUri: URI },
  DestinationCreate: { rtmpUrl: INGEST, url: INGEST },
  DestinationUpdate: { rtmpUrl: INGEST, url: INGEST },
  TopUp: { checkoutUrl: URI },
  UploadFromLink: { url: { ...URI, pattern: '^\\s*[Hh][Tt][Tt][Pp][Ss]?:' } },
};

export function addBounds({ paths, components }: OpenApi): void {
  for (const [name, fields] of Object.entries(FIELDS)) {
    const properties = components.schemas[name]?.properties as Record<string, Json> | undefined;
    for (const [field, bounds] of Object.entries(fields)) {
      const schema = properties?.[field];
      // Nullable text has its schema in `anyOf`.
      const text = (schema?.anyOf as Json[] | undefined)?.find(({ type }) => type === 'string') ?? schema;
      if (text) Object.assign(text, bounds);
    }
  }
  for (const item of Object.values(paths))
    for (const { parameters = [] } of Object.values(item))
      for (const { name, in: place, schema } of parameters)
        if (place === 'path' && name === 'id') Object.assign(schema, ID);
        else if (place === 'query' && schema.type === 'string') schema.pattern ??= DISPLAY_NAME_PATTERN;
}
