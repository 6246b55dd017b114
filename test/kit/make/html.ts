/** Validates a page's HTML with an independent validator, as the browser has it after all scripts. */
import { HtmlValidate } from 'html-validate';

/** Rules about HTML that browsers and screen readers may misread; none about style. */
const RULES = [
  ...['attribute-allowed-values', 'attribute-misuse', 'close-order', 'deprecated', 'element-name'],
  ...[
    'element-permitted-content',
    'element-permitted-occurrences',
    'element-permitted-order',
    'element-permitted-parent',
  ],
  ...['element-required-ancestor', 'element-required-attributes', 'element-required-content', 'form-dup-name'],
  ...['hidden-focusable', 'input-attributes', 'input-missing-label', 'map-dup-name', 'multiple-labeled-controls'],
  ...[
    'no-abstract-role',
    'no-deprecated-attr',
    'no-dup-attr',
    'no-dup-id',
    'no-missing-references',
    'no-unknown-elements',
  ],
  ...[
    'script-element',
    'text-content',
    'unique-landmark',
    'unrecognized-char-ref',
    'void-content',
    'wcag/h30',
    'wcag/h32',
  ],
  ...['wcag/h36', 'wcag/h37', 'wcag/h63', 'wcag/h67'],
];

const validator = new HtmlValidate({
  elements: ['html5'],
  rules: Object.fromEntries(RULES.map((rule) => [rule, 'error'])),
});

/** Findings as `rule: message: element`. */
export async function findHtmlErrors(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html);
  const found = results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, selector }) => `${ruleId}: ${message}: ${selector ?? ''}`),
  );
  return [...new Set(found)];
}
