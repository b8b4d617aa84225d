/** Numbers and plurals as a language has them. */

/** "# games" for each form that the language knows; # is the number. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

export function toolsOf(language: string): {
  /** Rounded to this many digits after the point; 0 if none is given. */
  number: (value: number, digits?: 0 | 1 | 2) => string;
  /** 0.63 as "63%". */
  /** With at most so many decimals. */
  percent: (share: number, digits?: number) => string;
  /** The form that fits the number, with the number in it. */
  count: (n: number, forms: Forms) => string;
  /** "tomorrow", "in 3 days". */
  inDays: (days: number) => string;
} {
  const rules = new Intl.PluralRules(language);
  const shares = (digits: number): Intl.NumberFormat => new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: digits });
  const whole = shares(0);
  const exact = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 4 });
  const written = (n: number): string => (n % 1 && Number(n.toFixed(4)) === n ? exact : formats[n % 1 ? 1 : 0]!).format(n);
  const distances = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const formats = [0, 1, 2].map((digits) => new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits }));
  return {
    number: (value, digits = 0) => formats[digits]!.format(value),
    inDays: (days) => distances.format(days, "day"),
    percent: (share, digits = 0) => (digits ? shares(digits) : whole).format(share),
    count: (n, forms) => (forms[rules.select(n)] ?? forms.other).replace("#", written(n)),
  };
}
