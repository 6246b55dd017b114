/** Writes the types that the client's methods take and return, from the schemas of operations. */
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type TProperties, Type } from 'typebox';
import { PROJECT_ROOT } from '../process/root.ts';

/** JSON Schema, as far as records and parameters use it. */
export interface Schema {
  type?: string;
  enum?: (string | number)[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  required?: string[];
  minProperties?: number;
  default?: unknown;
  description?: string;
}

interface RecordType {
  name: string;
  /** Path below the project. */
  file: string;
}

/** By schema: the types that a `record.ts` exports beside a schema of the same name. */
export type RecordTypes = ReadonlyMap<unknown, RecordType>;

export async function findRecordTypes(): Promise<RecordTypes> {
  const found = new Map<unknown, RecordType>();
  for (const file of globSync('src/**/record.ts', { cwd: PROJECT_ROOT })) {
    const path = join(PROJECT_ROOT, file);
    const types = new Set([...(await readFile(path, 'utf8')).matchAll(/^export type (\w+)/gm)].map(([, name]) => name));
    const values: object = await import(pathToFileURL(path).href);
    for (const [name, schema] of Object.entries(values)) if (types.has(name)) found.set(schema, { name, file });
  }
  return found;
}

const DOC_WIDTH = 110;

/** Writes a comment of JSDoc on lines of its own; nothing for an empty text. */
export function printDoc(text: string): string {
  const lines = text.match(new RegExp(`\\S.{0,${DOC_WIDTH - 1}}(?=\\s|$)`, 'g')) ?? [];
  if (lines.length <= 1) return text && `/** ${text} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`;
}

/** Writes types of TypeScript, and collects the names that they use. */
export class TypePrinter {
  readonly #records: RecordTypes;
  /** Names that were printed, which the printed text has to import. */
  readonly names = new Set<string>();
  readonly #exported = new Map<string, RecordType>();
  readonly #interfaces: string[] = [];

  constructor(records: RecordTypes) {
    this.#records = records;
  }

  print(schema: Schema): string {
    const record = this.#records.get(schema);
    if (record) {
      this.#export(schema);
      this.names.add(record.name);
      return record.name;
    }
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
    if (schema.anyOf) return schema.anyOf.map((one) => this.print(one)).join(' | ');
    if (schema.items) return `(${this.print(schema.items)})[]`;
    if (schema.properties) return `{\n${this.#printFields(schema)}}`;
    if (schema.type === 'object')
      return `Record<string, ${schema.additionalProperties ? this.print(schema.additionalProperties) : 'unknown'}>`;
    return schema.type === 'integer' ? 'number' : (schema.type ?? 'unknown');
  }

  /**
   * Declares an interface with `fields` and those of `base`, and returns its name, or `base` where there are no fields. Throws when there
   * is one of that name already.
   */
  declare(name: string, base: string, fields: TProperties): string {
    if (Object.keys(fields).length === 0) return base;
    if (this.names.has(name)) throw new Error(`Two operations need the type ${name} in the client.`);
    this.names.add(name);
    const heritage = base === '' ? '' : ` extends ${base}`;
    this.#interfaces.push(
      `export interface ${name}${heritage} {\n${this.#printFields(Type.Object(fields) as Schema)}}\n`,
    );
    return name;
  }

  /** Writes the statements that export every type that was printed, and the records within them. */
  printExports(): string {
    const files = Map.groupBy(this.#exported.values(), ({ file }) => file);
    const exports = [...files].map(([file, types]) => {
      const names = types.map(({ name }) => name).join(', ');
      return `export type { ${names} } from '${relative('src/service/client', file)}';\n`;
    });
    return [...exports, '\n', ...this.#interfaces].join('');
  }

  #export(schema: unknown): void {
    if (typeof schema !== 'object' || schema === null) return;
    const record = this.#records.get(schema);
    if (record) this.#exported.set(record.name, record);
    for (const part of Object.values(schema)) this.#export(part);
  }

  /** A client may leave out a field that has a default. */
  #printFields({ properties = {}, required = [] }: Schema): string {
    return Object.entries(properties)
      .map(([name, field]) => {
        const mark = required.includes(name) && field.default === undefined ? '' : '?';
        return `${printDoc(field.description ?? '')}${name}${mark}: ${this.print(field)};\n`;
      })
      .join('');
  }
}
