/** The fields that say where an endpoint leads. */
import { Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { Endpoint } from '../../../service/client/index.ts';
import { PLACEHOLDERS } from '../../../service/domain/endpoints/alerts/placeholders.ts';
import forms from '../../ui/form.module.css';
import type { FieldsProps } from './choiceFields.tsx';
import { METHODS } from './formValues.ts';
import classes from './notifications.module.css';
import { KIND_WORDS } from './text.ts';

interface TargetProps extends FieldsProps {
  before: Endpoint | undefined;
}

const Placeholders = () => (
  <details className={classes.fold}>
    <summary>Placeholders</summary>
    <dl className={classes.placeholders}>
      {Object.entries(PLACEHOLDERS).map(([name, meaning]) => (
        <div key={name}>
          <dt>
            <code>{`{{${name}}}`}</code>
          </dt>
          <dd>{meaning.replaceAll('`', '')}</dd>
        </div>
      ))}
    </dl>
    <p className={forms.help}>
      They stand in the address, in headers and in the body. One of title, text and summary is needed: it has the code
      that confirms the endpoint.
    </p>
  </details>
);

function TemplateFields({ form, before }: TargetProps) {
  const { hasTemplate, method } = form.values;
  return (
    <>
      {before && (
        <Checkbox
          label="Write the request anew: the current one is kept secret"
          {...form.getInputProps('hasTemplate', { type: 'checkbox' })}
        />
      )}
      {hasTemplate && (
        <>
          <NativeSelect label="Method" data={[...METHODS]} {...form.getInputProps('method')} />
          <Textarea
            label="Headers"
            description="One on each line. They are kept secret, since they may hold a token."
            placeholder="Title: {{title}}"
            rows={3}
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps('headers')}
          />
          {method !== 'GET' && (
            <Textarea
              label="Body"
              description="Text, a form, or JSON with quotation marks around the placeholders."
              rows={4}
              spellCheck={false}
              {...form.getInputProps('body')}
            />
          )}
          <Placeholders />
        </>
      )}
    </>
  );
}

export function TargetFields({ form, before }: TargetProps) {
  const { kind } = form.values;
  const { help } = KIND_WORDS[kind];
  if (kind === 'mail')
    return (
      <TextInput
        type="email"
        label="E-mail address"
        description={help}
        autoComplete="email"
        {...form.getInputProps('address')}
      />
    );
  return (
    <>
      <TextInput
        label={before ? 'New address' : 'Address'}
        description={before ? `Leave it empty to keep ${before.target}` : help}
        placeholder="https://"
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('url')}
      />
      {kind === 'template' && <TemplateFields form={form} before={before} />}
    </>
  );
}
