/**
 * Derives the schema of one API version from that of the other, by the table of names (versions/names.ts). Pure: no I/O,
 * no clock.
 */
import { type NameNode, swapName } from '../versions/names.ts';
import type { CelRule, Structural } from './schema.ts';

/** The same rule about fields of the node that it belongs to. Variables of macros are not followed. */
const renameRule = (rule: CelRule, node: NameNode): CelRule => ({
  ...rule,
  rule: rule.rule.replaceAll(/\b(self|oldSelf)\.(\w+)/g, (_, self, name) => `${self}.${swapName(node, name)}`),
  ...(rule.fieldPath !== undefined && { fieldPath: renamePath(rule.fieldPath, node) }),
});

const renameValues = (schema: Structural, node: NameNode): Structural => ({
  ...schema,
  ...(schema.enum && { enum: schema.enum.map((value) => swapName(node, String(value))) }),
});

/** Gives every field of a schema the name of the other version, its place in lists of required fields and rules too. */
export function renameSchema(schema: Structural, node: NameNode | undefined): Structural {
  if (!node) return schema;
  const renamed = { ...schema };
  const { properties, required, items, 'x-kubernetes-list-map-keys': keys, 'x-kubernetes-validations': rules } = schema;
  if (properties)
    renamed.properties = Object.fromEntries(
      Object.entries(properties).map(([name, field]) => {
        const named = node.values.get(name);
        const below = named ? renameValues(field, named) : renameSchema(field, node.below.get(name));
        return [swapName(node, name), below];
      }),
    );
  if (required) renamed.required = required.map((name) => swapName(node, name));
  if (items) renamed.items = renameSchema(items, node);
  if (keys) renamed['x-kubernetes-list-map-keys'] = keys.map((name) => swapName(node, name));
  if (rules) renamed['x-kubernetes-validations'] = rules.map((rule) => renameRule(rule, node));
  return renamed;
}

/** The same path of fields (`.status.phase`) from the object that `root` describes. */
export function renamePath(path: string, root: NameNode): string {
  let node: NameNode | undefined = root;
  const [, ...steps] = path.split('.');
  const renamed = steps.map((step) => {
    const name = node ? swapName(node, step) : step;
    node = node?.below.get(step);
    return name;
  });
  return ['', ...renamed].join('.');
}
