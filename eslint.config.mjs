import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

/** The project's limits, defined once. */
const limits = {
  'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
  'max-lines-per-function': ['error', { max: 50, skipBlankLines: true, skipComments: true }],
  'max-depth': ['error', 3],
  complexity: ['error', 10],
};

/** A parameter of a constructor without a decorator; injected repositories have one. */
const COLLABORATOR = '.params:not([decorators.length>0])';

/** How classes write private members and dynamic modules. */
const classStyle = [
  {
    selector: ':matches(PropertyDefinition, MethodDefinition) > PrivateIdentifier.key',
    message: 'Write `private x`, as everywhere. Only `Secret` hides its value from the running program.',
  },
  {
    selector:
      ":matches(MethodDefinition[value.returnType.typeAnnotation.typeName.name='DynamicModule'], MethodDefinition[value.returnType.typeAnnotation.elementType.typeName.name='DynamicModule'])[key.name!=/^(register|forRoot|forFeature)$/]",
    message:
      'A dynamic module has `register`, `forRoot` or `forFeature`: https://docs.nestjs.com/fundamentals/dynamic-modules',
  },
];

const syntax = {
  'no-console': 'error',
  'no-restricted-syntax': [
    'error',
    ...classStyle,
    {
      selector:
        ':matches(FunctionDeclaration, ArrowFunctionExpression, MethodDefinition[kind!="constructor"] > FunctionExpression)[params.length>4]',
      message: 'At most 4 parameters.',
    },
    {
      selector: `MethodDefinition[kind="constructor"] > FunctionExpression > ${Array(8).fill(COLLABORATOR).join(' ~ ')}`,
      message: 'At most 7 dependencies besides repositories.',
    },
    { selector: 'ExportDefaultDeclaration', message: 'Export by name.' },
    { selector: 'TSEnumDeclaration', message: 'Use a union of strings.' },
    {
      selector: "MemberExpression[object.name='process'][property.name='env']",
      message: 'Only common/settings reads the environment.',
    },
    { selector: 'NewExpression[callee.name=/Exception$/]', message: 'Throw an AppError from the catalog.' },
    {
      selector: "CallExpression[callee.property.name='assign'] > NewExpression[callee.name=/Dto$/]",
      message: 'Return an object literal, whose fields the compiler compares with those of the DTO.',
    },
  ],
};

/** All texts for users are in dashboard/src/words, where they can be found, checked and translated. */
const textsInMarkup = [
  { selector: 'JSXText[value=/[A-Za-z]{2}/]', message: 'Put this text into words/en.ts.' },
  {
    selector:
      'JSXAttribute[name.name=/^(label|title|placeholder|alt|description|aria-label)$/] > Literal[value=/[A-Za-z]{2}/]',
    message: 'Put this text into words/en.ts.',
  },
];

const types = {
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-non-null-assertion': 'error',
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  '@typescript-eslint/consistent-type-imports': 'error',
  '@typescript-eslint/no-extraneous-class': 'off',
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
  '@typescript-eslint/no-confusing-void-expression': 'off',
  '@typescript-eslint/no-unnecessary-condition': 'off',
  '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
  '@typescript-eslint/require-await': 'off',
  '@typescript-eslint/prefer-promise-reject-errors': 'off',
};

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'node_modules/',
      'bench/node_modules/',
      'bench/results/',
      'test/clients/',
      'data/',
      'coverage/',
      'dashboard/dist/',
      'dashboard/src/api/schema.d.ts',
      'dashboard/src/routeTree.gen.ts',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.mjs'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: { ...types, ...limits, ...syntax },
  },
  {
    files: [
      'src/common/settings/**',
      'src/cli/**',
      'test/**',
      'bench/**',
      'vitest.config.ts',
      'ormconfig.ts',
      '*.mjs',
      'bin/**',
      'scripts/**',
      'deploy/test/*.mjs',
    ],
    rules: { 'no-restricted-syntax': ['error', ...classStyle], 'no-console': 'off' },
  },
  {
    files: ['**/*.spec.ts', 'test/**', 'bench/**'],
    rules: {
      'max-lines-per-function': 'off',
      'max-lines': 'off',
      complexity: 'off',
      'no-restricted-syntax': ['error', ...classStyle],
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['dashboard/src/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': reactHooks },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      // Markup is long but simple: a closing tag is not a statement.
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
      complexity: ['error', 12],
      'no-restricted-syntax': [...syntax['no-restricted-syntax'], ...textsInMarkup],
    },
  },
  // Responses are plain objects with the type of a DTO class.
  { files: ['src/admin/**/*.dto.ts'], rules: { '@typescript-eslint/no-misused-spread': 'off' } },
  // Tables, which are read from top to bottom.
  {
    files: ['dashboard/src/words/**', 'src/common/errors/catalog.ts', 'scripts/grafana/dashboards.mjs'],
    rules: { 'max-lines': 'off' },
  },
  {
    files: ['dashboard/dev/**', 'dashboard/test/**', 'dashboard/vite.config.ts'],
    rules: {
      'no-restricted-syntax': 'off',
      'no-console': 'off',
      complexity: 'off',
      'max-lines-per-function': 'off',
    },
  },
  // The value of a secret must not be readable by what enumerates fields.
  { files: ['src/common/settings/secret.ts', '**/*.mjs'], rules: { 'no-restricted-syntax': 'off' } },
  { files: ['**/*.mjs', '**/*.cjs'], ...tseslint.configs.disableTypeChecked },
);
