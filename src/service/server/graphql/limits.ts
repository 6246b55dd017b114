/** Limits the cost of one GraphQL request. Pure: no I/O, no clock. */
import {
  type ASTVisitor,
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';
import { DEFAULT_PAGE, MAX_PAGE } from '../../lib/list-page.ts';

/** Lexical tokens of the query's text. */
export const MAX_TOKENS = 2_000;
/** Deep enough for the introspection query, whose type references are nested. */
export const MAX_DEPTH = 16;
/** Aliases in the whole operation, which repeat the same field. */
export const MAX_ALIASES = 20;
/**
 * A field costs 1, or its extension `cost`. The content of a list costs it as often as `first` or `last` allows. The limit permits
 * two full pages of all fields of streams, or nineteen mutations.
 */
export const MAX_COST = 10_000;
/** Nesting of lists and objects in the variables; the API's inputs need five levels. */
export const MAX_VARIABLE_DEPTH = 16;

interface Measure {
  depth: number;
  aliases: number;
  cost: number;
}

const tooMuch = (message: string, node: OperationDefinitionNode): GraphQLError =>
  new GraphQLError(message, { nodes: node, extensions: { code: 'validation_failed' } });

type Variables = Readonly<Record<string, unknown>> | null | undefined;

/** Rejects operations over the limits; `variables` are those of the request. */
export const limitsRule =
  (variables: Variables) =>
  (context: ValidationContext): ASTVisitor => ({
    OperationDefinition(node) {
      const { depth, aliases, cost } = measureOperation(context, node, variables);
      const refuse = (what: string) => context.reportError(tooMuch(what, node));
      if (depth > MAX_DEPTH) refuse(`The operation is nested ${depth} levels deep; at most ${MAX_DEPTH} are allowed.`);
      if (aliases > MAX_ALIASES) refuse(`The operation has ${aliases} aliases; at most ${MAX_ALIASES} are allowed.`);
      if (cost > MAX_COST)
        refuse(`The operation costs ${cost}; at most ${MAX_COST} is allowed. Request smaller pages or fewer fields.`);
    },
  });

function measureOperation(
  context: Pick<ValidationContext, 'getSchema' | 'getFragment'>,
  operation: OperationDefinitionNode,
  variables: Variables,
): Measure {
  const schema = context.getSchema();
  /** A fragment costs the same wherever it is spread. Another rule rejects recursive fragments. */
  const fragments = new Map<string, Measure>();
  const none: Measure = { depth: 0, aliases: 0, cost: 0 };

  const measureFragment = (name: string): Measure => {
    const known = fragments.get(name);
    if (known) return known;
    fragments.set(name, none);
    const fragment = context.getFragment(name);
    const measure = fragment ? measureSelections(fragment.selectionSet, fragment.typeCondition.name.value) : none;
    fragments.set(name, measure);
    return measure;
  };

  const measureField = (node: FieldNode, parent: string | undefined): Measure => {
    const field = findField(schema, parent, node.name.value);
    const type = field && getNamedType(field.type);
    const inner = node.selectionSet
      ? measureSelections(node.selectionSet, type && isCompositeType(type) ? type.name : undefined)
      : none;
    const times = field?.extensions.isPaged ? pageSize(node, operation, variables) : 1;
    const own = (field?.extensions.cost as number | undefined) ?? 1;
    return {
      depth: 1 + inner.depth,
      aliases: (node.alias ? 1 : 0) + inner.aliases,
      cost: own + times * inner.cost,
    };
  };

  const measureSelections = ({ selections }: SelectionSetNode, parent: string | undefined): Measure =>
    selections
      .map((selection) => {
        if (selection.kind === Kind.FIELD) return measureField(selection, parent);
        if (selection.kind === Kind.FRAGMENT_SPREAD) return measureFragment(selection.name.value);
        return measureSelections(selection.selectionSet, selection.typeCondition?.name.value ?? parent);
      })
      .reduce(
        (sum, one) => ({
          depth: Math.max(sum.depth, one.depth),
          aliases: sum.aliases + one.aliases,
          cost: sum.cost + one.cost,
        }),
        none,
      );

  return measureSelections(operation.selectionSet, schema.getRootType(operation.operation)?.name);
}

function findField(schema: GraphQLSchema, parent: string | undefined, name: string): GraphQLField | undefined {
  const type = parent === undefined ? undefined : schema.getType(parent);
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}

/** Returns the page size from the query and its variables; execution rejects invalid ones. */
function pageSize(node: FieldNode, operation: OperationDefinitionNode, variables: Variables): number {
  const sizes = (node.arguments ?? []).flatMap(({ name, value }) => {
    if (name.value !== 'first' && name.value !== 'last') return [];
    if (value.kind === Kind.INT) return [Number(value.value)];
    if (value.kind !== Kind.VARIABLE) return [];
    const variable = value.name.value;
    const given = variables?.[variable];
    if (typeof given === 'number') return [given];
    const fallback = operation.variableDefinitions?.find((definition) => definition.variable.name.value === variable);
    return fallback?.defaultValue?.kind === Kind.INT ? [Number(fallback.defaultValue.value)] : [];
  });
  return sizes.length === 0 ? DEFAULT_PAGE : Math.min(MAX_PAGE, Math.max(0, Math.min(...sizes)));
}

/** Reports variables that are nested too deep to traverse. */
export function variablesProblem(variables: unknown): GraphQLError[] | undefined {
  let level = [variables].filter(isNested);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === MAX_VARIABLE_DEPTH) {
      const message = `The variables are nested deeper than ${MAX_VARIABLE_DEPTH} levels.`;
      return [new GraphQLError(message, { extensions: { code: 'validation_failed' } })];
    }
    level = level.flatMap((value) => Object.values(value as object).filter(isNested));
  }
  return undefined;
}

const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null;
