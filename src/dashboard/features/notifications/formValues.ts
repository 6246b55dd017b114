/** The values of an endpoint's form, and what is sent of them. Pure: no I/O, no clock. */
import { tidyText, tidyUrl } from '../../../core/lib/pasted.ts';
import type { Endpoint, EndpointCreate, EndpointUpdate } from '../../../service/client/index.ts';
import type { EndpointKind } from '../../../service/domain/endpoints/record.ts';
import type { AccountEventType } from '../../../service/domain/events/record.ts';

export const METHODS = ['POST', 'PUT', 'GET'] as const;

export interface EndpointValues {
  kind: EndpointKind;
  name: string;
  url: string;
  address: string;
  /** The request of the kind `template` is written anew. */
  hasTemplate: boolean;
  method: (typeof METHODS)[number];
  /** A line for each: `Name: value`. */
  headers: string;
  body: string;
  choosesTypes: boolean;
  types: string[];
  choosesObjects: boolean;
  objectIDs: string[];
  offAirSeconds: number | string;
}

/** Paths of the server → fields of the form. */
export const FIELD_OF_PATH: Readonly<Record<string, keyof EndpointValues>> = {
  name: 'name',
  url: 'url',
  address: 'address',
  types: 'types',
  objectIDs: 'objectIDs',
  'rule/offAirSeconds': 'offAirSeconds',
  'template/headers': 'headers',
  'template/body': 'body',
  template: 'body',
};
export const PATHS = Object.keys(FIELD_OF_PATH);

/** Complaints of the server by the fields of the form. */
export const toFormErrors = (errors: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(errors).map(([path, sentence]) => [FIELD_OF_PATH[path] ?? path, sentence]));

/** `own`: the address of the person at this page. */
export function readValues(before: Endpoint | undefined, own: string): EndpointValues {
  return {
    kind: before?.kind ?? 'mail',
    name: before?.name ?? '',
    url: '',
    address: before?.kind === 'mail' ? before.target : own,
    hasTemplate: before === undefined,
    method: 'POST',
    headers: '',
    body: before ? '' : '{{title}}\n{{text}}\n{{link}}',
    choosesTypes: Boolean(before?.types.length),
    types: before?.types ?? [],
    choosesObjects: Boolean(before?.objectIDs.length),
    objectIDs: before?.objectIDs ?? [],
    offAirSeconds: before?.rule?.offAirSeconds ?? 30,
  };
}

type Headers = { name: string; value: string }[];

/** Empty lines are left out. Undefined where a line is no header. */
export function parseHeaders(text: string): Headers | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return { name: line.slice(0, Math.max(0, colon)).trim(), value: line.slice(colon + 1).trim() };
  });
  return headers.every(({ name }) => name !== '' && !/\s/.test(name)) ? headers : undefined;
}

const buildTemplate = ({ method, headers, body }: EndpointValues): NonNullable<EndpointCreate['template']> => ({
  method,
  headers: parseHeaders(headers) ?? [],
  ...(method !== 'GET' && { body }),
});

/** A type that people are not told of. */
export const FOR_PROGRAMS: AccountEventType = 'item.started';

/** The events that are sent, and their objects; null stands for all. */
const buildChoice = ({ kind, choosesTypes, types, choosesObjects, objectIDs }: EndpointValues) => ({
  types: choosesTypes
    ? (types as AccountEventType[]).filter((type) => kind === 'webhook' || type !== FOR_PROGRAMS)
    : [],
  objectIDs: choosesObjects ? objectIDs : [],
});

const buildRule = ({ offAirSeconds }: EndpointValues) => ({ offAirSeconds: Number(offAirSeconds) });

export function buildCreate(values: EndpointValues): EndpointCreate {
  const { kind } = values;
  const name = tidyText(values.name);
  return {
    kind,
    ...(name !== '' && { name }),
    ...(kind === 'mail' ? { address: tidyText(values.address) } : { url: tidyUrl(values.url) }),
    ...(kind === 'template' && { template: buildTemplate(values) }),
    ...buildChoice(values),
    ...(kind !== 'webhook' && { rule: buildRule(values) }),
  };
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Finds the differences from the endpoint as it is. Its address is shown in part alone, so an empty one stays. */
export function findChanges(values: EndpointValues, before: Endpoint): EndpointUpdate {
  const { types, objectIDs } = buildChoice(values);
  const [name, url, address] = [tidyText(values.name), tidyUrl(values.url), tidyText(values.address)];
  const rule = buildRule(values);
  return {
    ...(name !== '' && name !== before.name && { name }),
    ...(before.kind !== 'mail' && url !== '' && { url }),
    ...(before.kind === 'mail' && address !== before.target && { address }),
    ...(before.kind === 'template' && values.hasTemplate && { template: buildTemplate(values) }),
    ...(!isSame(types, before.types) && { types }),
    ...(!isSame(objectIDs, before.objectIDs) && { objectIDs }),
    ...(before.rule && rule.offAirSeconds !== before.rule.offAirSeconds && { rule }),
  };
}

type Mistakes = { [Field in keyof EndpointValues]?: (value: never, values: EndpointValues) => string | null };

const MOST_SECONDS = 3600;

/** Mistakes that need no server. `isNew`: the endpoint is not there yet. */
export const findMistakes = (isNew: boolean) =>
  ({
    url: (url: string, { kind }) => {
      const isEmpty = tidyUrl(url) === '';
      if (kind === 'mail' || (isEmpty && !isNew)) return null;
      if (isEmpty) return 'Enter the address.';
      return /^https?:\/\//i.test(tidyUrl(url)) ? null : 'Must begin with https:// or http://.';
    },
    address: (address: string, { kind }) =>
      kind !== 'mail' || tidyText(address).includes('@') ? null : 'Enter an e-mail address.',
    headers: (headers: string, { kind, hasTemplate }) =>
      kind === 'template' && hasTemplate && parseHeaders(headers) === undefined
        ? 'Write a header on each line, such as Title: {{title}}.'
        : null,
    body: (body: string, { kind, hasTemplate, method }) =>
      kind === 'template' && hasTemplate && method !== 'GET' && body.trim() === '' ? 'Enter what is sent.' : null,
    types: (types: string[], { choosesTypes }) =>
      choosesTypes && types.length === 0 ? 'Choose at least one event.' : null,
    objectIDs: (ids: string[], { choosesObjects }) =>
      choosesObjects && ids.length === 0 ? 'Choose at least one stream.' : null,
    offAirSeconds: (seconds: number | string, { kind }) =>
      kind === 'webhook' || (seconds !== '' && Number(seconds) >= 0 && Number(seconds) <= MOST_SECONDS)
        ? null
        : 'Enter a number of seconds up to 3,600.',
  }) satisfies Mistakes;
