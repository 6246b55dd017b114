/** Links created or listed records to their operations (OpenAPI 3.1, Link Object). Pure: no I/O, no clock. */
import type { Json, OpenApi, OperationObject, Response } from './document.ts';

/** Property of the id in a record, by noun. */
const ID: Record<string, string> = { uploads: 'objectID' };

/** Adds links to each response with one record. */
export function addLinks({ paths }: OpenApi): void {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation, noun: path.split('/')[2] ?? '' })),
  );
  for (const { noun, path, method, operation } of operations) {
    const response = (operation.responses['201'] ?? operation.responses['200']) as Response | undefined;
    const isRecord = operation.responses['201'] !== undefined || (method === 'get' && /^[^{]+\/{id}$/.test(path));
    const targets = operations.filter((other) => other.path.startsWith(`/v1/${noun}/{id}`));
    if (!response?.content || !isRecord || targets.length === 0) continue;
    const id = `$response.body#/${ID[noun] ?? 'id'}`;
    response.links = Object.fromEntries(
      targets.filter((target) => target.operation !== operation).map((target) => link(target.operation, id)),
    );
  }
}

const link = ({ operationId, summary }: OperationObject, id: string): [string, Json] => [
  operationId,
  { operationId, description: summary, parameters: { id } },
];
