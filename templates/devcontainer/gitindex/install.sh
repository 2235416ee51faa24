#!/bin/sh
# Runs as root while the image is built. Options come as VERSION, SEED and SIGNERS.
set -eu
python3 -m venv /usr/local/share/gitindex/venv
/usr/local/share/gitindex/venv/bin/pip install --quiet "gitindex[pack]${VERSION:+==$VERSION}"
ln -sf /usr/local/share/gitindex/venv/bin/gitindex /usr/local/bin/gitindex
printf '%s' "${SEED:-}" > /usr/local/share/gitindex/seed
if [ -n "${SIGNERS:-}" ]; then
  printf '%s\n' "$SIGNERS" > /usr/local/share/gitindex/signers
  git config --system gitindex.pack.signers /usr/local/share/gitindex/signers
fi
cat > /usr/local/share/gitindex/seed.sh <<'SEED'
#!/bin/sh
# Runs as the user when the container was created, in the work tree.
seed=$(cat /usr/local/share/gitindex/seed)
if [ -n "$seed" ]; then
  exec gitindex index --seed "$seed"
fi
exec gitindex index
SEED
chmod 755 /usr/local/share/gitindex/seed.sh
