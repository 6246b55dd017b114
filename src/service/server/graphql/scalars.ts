/** Defines the scalars of the GraphQL schema, and helpers for writing types. Pure: no I/O, no clock. */
import { GraphQLEnumType, GraphQLError, GraphQLList, GraphQLNonNull, GraphQLScalarType } from 'graphql';
import { isTime } from '../../lib/time.ts';
import { findChoice } from '../http/lenient.ts';

const textScalar = (
  name: string,
  { description, specifiedByURL }: { description: string; specifiedByURL: string },
  problem: (text: string) => string | undefined = () => undefined,
) =>
  new GraphQLScalarType<string, string>({
    name,
    description,
    specifiedByURL,
    coerceOutputValue: String,
    coerceInputValue: (value) => {
      const wrong = typeof value === 'string' ? problem(value) : 'must be a string';
      if (wrong !== undefined) throw new GraphQLError(wrong);
      return value as string;
    },
  });

export const Cursor = textScalar('Cursor', {
  description: 'Position in a list. It stays valid when objects are added or removed around it.',
  specifiedByURL: 'https://relay.dev/graphql/connections.htm#sec-Cursor',
});
export const DateTime = textScalar(
  'DateTime',
  {
    description: 'Time in RFC 3339, e.g. 2027-01-31T18:00:00Z.',
    specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339#section-5.6',
  },
  (text) => (isTime(text) ? undefined : 'must be a time such as 2027-01-31T18:00:00Z'),
);

export const JSONObject = new GraphQLScalarType<unknown, unknown>({
  name: 'JSONObject',
  description: 'An object as REST has it, as JSON.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259#section-4',
});

/** Services check the names and the values. */
export const Labels = new GraphQLScalarType<unknown, unknown>({
  name: 'Labels',
  description: 'Labels by their names, as JSON, e.g. `{ team: "news" }`.',
  specifiedByURL: 'https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/',
});

type Wrappable = ConstructorParameters<typeof GraphQLNonNull>[0];

export const required = <T extends Wrappable>(type: T) => new GraphQLNonNull(type);

/** Non-null list of non-null items. */
export const listType = <T extends Wrappable>(type: T) => required(new GraphQLList(required(type)));

/** An enum whose variables are read as REST reads its choices, such as `30` for `f_30`. */
class LenientEnum extends GraphQLEnumType {
  override coerceInputValue(given: unknown, hideSuggestions?: boolean) {
    const names = this.getValues().map(({ name }) => name);
    return super.coerceInputValue(findChoice(names, given) ?? given, hideSuggestions as never);
  }
}

/** A value that is no name in GraphQL, such as `stream.live` or `true`, has its letters as one: STREAM_LIVE, TRUE. */
const toEnumName = (value: string): string =>
  /\.|^(?:true|false|null)$/.test(value) ? value.replaceAll('.', '_').toUpperCase() : value;

export const enumType = (name: string, values: readonly string[], description?: string) =>
  new LenientEnum({
    name,
    description,
    values: Object.fromEntries(values.map((value) => [toEnumName(value), { value }])),
  });

/** The lists that a stream plays at the same time. */
export const StreamTrack = enumType('StreamTrack', ['video', 'audio']);
