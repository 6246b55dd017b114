/**
 * Lists the changes of the description that break clients: the version is a segment of the path, and within it things
 * are only added (contract.md, Versioning). Pure: no I/O, no clock.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Json, OpenApi, OperationObject } from '../../src/service/server/openapi/document.ts';
import { resolveResponse } from '../../src/service/server/openapi/openapi.ts';
import { type Break, compareSchemas, type Side } from './breaking-schemas.ts';

/** A sentence for each break; empty when every client of `before` can use `after`. */
export function breakingChanges(before: OpenApi, after: OpenApi): string[] {
  const found: string[] = [];
  for (const [path, item] of Object.entries(before.paths))
    for (const [method, old] of Object.entries(item)) {
      const name = `${method.toUpperCase()} ${path}`;
      const now = after.paths[path]?.[method];
      if (!now) found.push(`${name} was removed`);
      else found.push(...operationBreaks(before, after, old, now).map((text) => `${name}: ${text}`));
    }
  return [...new Set(found)];
}

function operationBreaks(before: OpenApi, after: OpenApi, old: OperationObject, now: OperationObject): string[] {
  const schemas = (side: Side) => (a: Json | undefined, b: Json | undefined) =>
    compareSchemas({ schema: a ?? {}, doc: before }, { schema: b ?? {}, doc: after }, side).map(sentence);
  return [
    ...(old.operationId === now.operationId ? [] : [`operationId is now ${now.operationId}`]),
    ...securityBreaks(old, now),
    ...parameterBreaks(old, now, schemas('request')),
    ...bodyBreaks(old, now, schemas('request')),
    ...responseBreaks(before, after, old, now, schemas('response')),
  ];
}

type Compare = (before: Json | undefined, after: Json | undefined) => string[];

const sentence = ({ at, text }: Break): string => `${at === '' ? 'the value' : at} ${text}`;

/** Each entry is a way to be allowed. */
function securityBreaks(old: OperationObject, now: OperationObject): string[] {
  const [was, is] = [(old.security ?? []) as Json[], (now.security ?? []) as Json[]];
  if (was.length === 0 && is.length > 0) return ['needs authentication now'];
  if (is.length === 0) return [];
  return was
    .filter((way) => !is.some((other) => isDeepStrictEqual(way, other)))
    .map((way) => `no longer allows ${JSON.stringify(way)}`);
}

function parameterBreaks(old: OperationObject, now: OperationObject, compare: Compare): string[] {
  const known = new Map((old.parameters ?? []).map((parameter) => [`${parameter.in} ${parameter.name}`, parameter]));
  return (now.parameters ?? []).flatMap((parameter) => {
    const name = `${parameter.in} parameter ${parameter.name}`;
    const was = known.get(`${parameter.in} ${parameter.name}`);
    if (parameter.required && !was?.required) return [`${name} is required now`];
    return was ? compare(was.schema, parameter.schema).map((text) => `${name}: ${text}`) : [];
  });
}

function bodyBreaks(old: OperationObject, now: OperationObject, compare: Compare): string[] {
  const [was, is] = [old.requestBody, now.requestBody];
  if (is?.required && !was?.required) return ['a body is required now'];
  return Object.entries(was?.content ?? {}).flatMap(([type, { schema }]) => {
    const media = is?.content[type];
    return media ? compare(schema, media.schema) : [`no longer accepts a body of ${type}`];
  });
}

function responseBreaks(
  before: OpenApi,
  after: OpenApi,
  old: OperationObject,
  now: OperationObject,
  compare: Compare,
): string[] {
  return Object.entries(old.responses).flatMap(([status, response]) => {
    const was = resolveResponse(before, response);
    const answer = now.responses[status];
    // An operation that does not fail in one way any more breaks nobody.
    if (!answer) return status.startsWith('2') ? [`${status} was removed`] : [];
    const is = resolveResponse(after, answer);
    return [
      ...Object.keys(was.headers ?? {})
        .filter((name) => is.headers?.[name] === undefined)
        .map((name) => `${status} no longer has the header ${name}`),
      ...Object.entries(was.content ?? {}).flatMap(([type, { schema }]) => {
        const media = is.content?.[type];
        return media
          ? compare(schema, media.schema).map((text) => `${status}: ${text}`)
          : [`${status} is no longer ${type}`];
      }),
    ];
  });
}
