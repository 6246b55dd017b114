/**
 * What the server holds of texts by code of its own, as a schema says it: clients are told before they send. Requests are checked
 * by that code, whose sentences say more than a pattern. Pure: no I/O, no clock.
 */
import type { Json, OpenApi } from './document.ts';

/** Longer ones are nothing that could be found (`maxParamLength` of the server). */
const ID = { minLength: 1, maxLength: 512 };
const URI = { format: 'uri' };

/** By component and field. Spaces around an address are taken away. */
const FIELDS: Record<string, Record<string, Json>> = {
  ConnectedApp: { uri: URI },
  CryptoDeposit: { paymentUri: URI },
  // An address may have `{stream_key}` in it, or hidden values, and is no URI then.
  DestinationCreate: { rtmpUrl: { pattern: '^\\s*([Rr][Tt][Mm][Pp][Ss]?|[Ss][Rr][Tt]):' } },
  DestinationUpdate: { rtmpUrl: { pattern: '^\\s*([Rr][Tt][Mm][Pp][Ss]?|[Ss][Rr][Tt]):' } },
  TopUp: { checkoutUrl: URI },
  UploadFromLink: { url: { ...URI, pattern: '^\\s*[Hh][Tt][Tt][Pp][Ss]?:' } },
};

export function addBounds({ paths, components }: OpenApi): void {
  for (const [name, fields] of Object.entries(FIELDS)) {
    const properties = components.schemas[name]?.properties as Record<string, Json> | undefined;
    for (const [field, bounds] of Object.entries(fields)) {
      const schema = properties?.[field];
      // Of what may be null too, the text.
      const text = (schema?.anyOf as Json[] | undefined)?.find(({ type }) => type === 'string') ?? schema;
      if (text) Object.assign(text, bounds);
    }
  }
  for (const item of Object.values(paths))
    for (const { parameters = [] } of Object.values(item))
      for (const { name, in: place, schema } of parameters)
        if (place === 'path' && name === 'id') Object.assign(schema, ID);
}
