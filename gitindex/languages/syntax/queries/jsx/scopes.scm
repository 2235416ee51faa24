; JSX binds nothing.
