/** Paying by card: the amount is chosen here, the card is given to the payment provider on a page of its own. */
import { TextInput } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import type { Billing, TopUp } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { formatMinor, parseMinor } from '../../lib/format.ts';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useSubmit } from '../../ui/useSubmit.ts';
import { describeAmount, describeRange } from './text.ts';

interface TopUpValues {
  /** In minor units. */
  choice: string;
  other: string;
}

const OTHER = 'other';

export function TopUpForm({ billing, onClose }: { billing: Billing; onClose: () => void }) {
  const { topUps } = useApi().calls;
  const { currency } = billing;
  const suggested = billing.topUp?.suggestedMinor ?? [];
  const readAmount = ({ choice, other }: TopUpValues) =>
    // A draft of another currency may have chosen what is offered no more.
    suggested.includes(choice) ? choice : parseMinor(other, billing);
  const { form, forgetBefore } = useDraftForm<TopUpValues>({
    name: 'top-up',
    initialValues: { choice: suggested[1] ?? suggested[0] ?? OTHER, other: '' },
    validate: {
      other: (_, values) => (readAmount(values) ? null : `Enter ${describeAmount(billing)}.`),
    },
  });
  const { submit, busy, problem } = useSubmit<TopUpValues, TopUp>({
    send: (values, idempotencyKey) =>
      topUps.create({ amountMinor: readAmount(values) ?? '', currency }, { idempotencyKey }),
    fields: ['amountMinor'],
    onMistakes: ({ amountMinor }) => form.setErrors({ other: amountMinor }),
    onDone: forgetBefore(({ checkoutUrl }) => {
      if (checkoutUrl !== null) location.assign(checkoutUrl);
      else onClose();
    }),
  });
  const cancel = forgetBefore(onClose);
  const choice = suggested.includes(form.values.choice) ? form.values.choice : OTHER;
  const choices = [
    ...suggested.map((value) => ({ value, label: formatMinor(value, billing) })),
    { value: OTHER, label: 'Other' },
  ];
  return (
    <Dialog title="Add credit by card" onClose={cancel} busy={busy}>
      <form className={forms.form} onSubmit={form.onSubmit(submit)} noValidate>
        <Choices
          legend={`Amount in ${currency}`}
          name="amount"
          choices={choices}
          value={choice}
          onChange={(next) => form.setFieldValue('choice', next)}
        />
        {choice === OTHER && (
          <TextInput
            label="Other amount"
            description={describeRange(billing)}
            inputMode="decimal"
            autoComplete="off"
            {...form.getInputProps('other')}
          />
        )}
        <p className={forms.help}>
          You pay on a page of the payment provider, and no card data reaches this service. The credit is available as
          soon as the payment succeeds.
        </p>
        <FormEnd
          problem={problem ?? (choice !== OTHER && form.errors.other)}
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
