/**
 * Parses and validates GraphQL documents, and caches the result. Clients send the same few documents with different variables, so
 * the cache holds the part that does not depend on variables.
 */
import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  type ParseOptions,
  parse,
  type Source,
  type ValidationRule,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { MAX_TOKENS } from './limits.ts';

/** Size limit of the cache in characters of source; a parsed document takes about a hundred times its length in memory. */
const KEPT_CHARACTERS = 200_000;
/** A longer text is not cached, so that a few of them do not evict all others. */
const MAX_CHARACTERS = 10_000;

export interface Documents {
  /** Throws a GraphQLError for an invalid document, or one with too many tokens. */
  parse(source: string | Source, options?: ParseOptions): DocumentNode;
  /** The first of `rules` depends on the request, and runs before the slower others. */
  validate(schema: GraphQLSchema, document: DocumentNode, rules?: readonly ValidationRule[]): readonly GraphQLError[];
}

/** Creates the cache of one schema. */
export function createDocuments(): Documents {
  const parsed = new LRUCache<string, DocumentNode>({
    maxSize: KEPT_CHARACTERS,
    maxEntrySize: MAX_CHARACTERS,
    sizeCalculation: (_document, text) => Math.max(1, text.length),
  });
  const valid = new WeakSet<DocumentNode>();
  return {
    parse(source, options) {
      const text = typeof source === 'string' ? source : source.body;
      const known = parsed.get(text);
      if (known) return known;
      const document = parse(source, { ...options, maxTokens: MAX_TOKENS });
      parsed.set(text, document);
      return document;
    },
    validate(schema, document, [first, ...others] = []) {
      const refused = first ? validate(schema, document, [first]) : [];
      if (refused.length > 0 || valid.has(document)) return refused;
      const wrong = validate(schema, document, others);
      if (wrong.length === 0) valid.add(document);
      return wrong;
    },
  };
}
