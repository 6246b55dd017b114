/** Paying by card: the amount is chosen here, the card is given to the payment provider on a page of its own. */
import { TextInput } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import type { Billing, TopUp } from '../../../client/index.ts';
import { useApi } from '../../api/context.tsx';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { formatMinor, parseMinor } from '../../lib/format.ts';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useSubmit } from '../../ui/useSubmit.ts';

const AMOUNTS = ['10', '25', '50', '100'] as const;

interface TopUpValues {
  choice: (typeof AMOUNTS)[number] | 'other';
  other: string;
}

const getAmount = ({ choice, other }: TopUpValues): string => (choice === 'other' ? other : choice);

export function TopUpForm({ billing: { currency }, onClose }: { billing: Billing; onClose: () => void }) {
  const { topUps } = useApi().calls;
  const { form, forget } = useDraftForm<TopUpValues>({
    name: 'top-up',
    initialValues: { choice: '25', other: '' },
    validate: {
      other: (_, values) => (parseMinor(getAmount(values), currency) ? null : 'Enter an amount, such as 25 or 25.50.'),
    },
  });
  const { submit, busy, problem } = useSubmit<TopUpValues, TopUp>({
    send: (values, idempotencyKey) =>
      topUps.create({ amountMinor: parseMinor(getAmount(values), currency) ?? '', currency }, { idempotencyKey }),
    fields: ['amountMinor'],
    onMistakes: ({ amountMinor }) => form.setErrors({ other: amountMinor }),
    onDone: ({ checkoutUrl }) => {
      forget();
      if (checkoutUrl !== null) location.assign(checkoutUrl);
      else onClose();
    },
  });
  const cancel = () => {
    forget();
    onClose();
  };
  const { choice } = form.values;
  const choices = [
    ...AMOUNTS.map((value) => ({ value, label: formatMinor(parseMinor(value, currency) ?? '', currency) })),
    { value: 'other' as const, label: 'Other' },
  ];
  return (
    <Dialog title="Top up by card" onClose={cancel} busy={busy}>
      <form className={forms.form} onSubmit={form.onSubmit(submit)} noValidate>
        <Choices
          legend={`Amount in ${currency}`}
          name="amount"
          choices={choices}
          value={choice}
          onChange={(next) => form.setFieldValue('choice', next)}
        />
        {choice === 'other' && (
          <TextInput label="Other amount" inputMode="decimal" autoComplete="off" {...form.getInputProps('other')} />
        )}
        <p className={forms.help}>
          You pay on a page of the payment provider, and no card data reaches this service. The credit is available as
          soon as the payment succeeds.
        </p>
        <FormEnd
          problem={problem ?? (choice !== 'other' && form.errors.other)}
          busy={busy}
          onCancel={cancel}
          icon={<IconExternalLink size={15} aria-hidden />}
        >
          Go to payment
        </FormEnd>
      </form>
    </Dialog>
  );
}
