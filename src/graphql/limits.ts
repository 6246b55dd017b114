/** Limits that keep one GraphQL request from costing what many should. Pure: no I/O, no clock. */
import { type FieldNode, type FragmentDefinitionNode, GraphQLError, Kind, type ValidationRule } from 'graphql';

export const MAX_TOKENS = 2_000;
/** Deep enough for the introspection query, whose type references are nested. */
export const MAX_DEPTH = 16;
/** Root fields each read a list; a page of a client needs a handful. */
export const MAX_ROOT_FIELDS = 20;

const tooMuch = (message: string, node: FieldNode): GraphQLError =>
  new GraphQLError(message, { nodes: node, extensions: { code: 'validation_failed' } });

/** Refuses documents that nest deeper than MAX_DEPTH or ask for more than MAX_ROOT_FIELDS root fields. */
export const limitsRule: ValidationRule = (context) => {
  const depths = new Map<string, number>();

  const ofFragment = (fragment: FragmentDefinitionNode | null | undefined): number => {
    if (!fragment) return 0;
    const name = fragment.name.value;
    // A fragment that holds itself is refused by another rule; here it only must not go round for ever.
    const known = depths.get(name);
    if (known !== undefined) return known;
    depths.set(name, 0);
    const depth = depthOf(fragment.selectionSet.selections);
    depths.set(name, depth);
    return depth;
  };

  const depthOf = (selections: FragmentDefinitionNode['selectionSet']['selections']): number => {
    let depth = 0;
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) depth = Math.max(depth, 1 + depthOf(selection.selectionSet?.selections ?? []));
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        depth = Math.max(depth, depthOf(selection.selectionSet.selections));
      else depth = Math.max(depth, ofFragment(context.getFragment(selection.name.value)));
    }
    return depth;
  };

  /** Through fragments too: twice the same fragment is twice its fields. */
  const countFields = (selections: FragmentDefinitionNode['selectionSet']['selections'], path: Set<string>): number => {
    let count = 0;
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) count += 1;
      else if (selection.kind === Kind.INLINE_FRAGMENT) count += countFields(selection.selectionSet.selections, path);
      else {
        const name = selection.name.value;
        const fragment = path.has(name) ? undefined : context.getFragment(name);
        if (fragment) count += countFields(fragment.selectionSet.selections, new Set([...path, name]));
      }
      if (count > MAX_ROOT_FIELDS) return count;
    }
    return count;
  };

  return {
    OperationDefinition(node) {
      const { selections } = node.selectionSet;
      const first = selections[0] as FieldNode;
      if (depthOf(selections) > MAX_DEPTH)
        context.reportError(tooMuch(`The query is nested deeper than ${MAX_DEPTH} levels.`, first));
      if (countFields(selections, new Set()) > MAX_ROOT_FIELDS)
        context.reportError(tooMuch(`The query has more than ${MAX_ROOT_FIELDS} fields at its root.`, first));
    },
  };
};
