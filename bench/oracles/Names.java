import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import javax.lang.model.element.*;
import javax.tools.*;

/** Prints every name of the Java files below a folder with the symbol that javac finds behind it. */
public class Names {
    public static void main(String[] args) throws Exception {
        List<Path> paths = new ArrayList<>();
        try (var walk = Files.walk(Path.of(args[0]))) {
            walk.filter(p -> p.toString().endsWith(".java") && !p.endsWith("module-info.java") && !p.endsWith("package-info.java"))
                .sorted().forEach(paths::add);
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        var manager = compiler.getStandardFileManager(d -> {}, null, StandardCharsets.UTF_8);
        var options = List.of("-proc:none", "-XDshould-stop.ifError=FLOW", "-Xmaxerrs", "1000000", "-nowarn");
        JavacTask task = (JavacTask) compiler.getTask(Writer.nullWriter(), manager, d -> {}, options, null, manager.getJavaFileObjectsFromPaths(paths));
        Iterable<? extends CompilationUnitTree> units = task.parse();
        try { task.analyze(); } catch (RuntimeException e) { System.err.println(e); }
        var out = new PrintStream(new BufferedOutputStream(System.out), false, StandardCharsets.UTF_8);
        Trees trees = Trees.instance(task);
        for (CompilationUnitTree unit : units) new Marks(trees, unit, out).scan(unit, null);
        out.flush();
    }

    static class Marks extends TreePathScanner<Void, Void> {
        final Trees trees; final CompilationUnitTree unit; final PrintStream out; final String text; final String path;
        final SourcePositions positions;

        Marks(Trees trees, CompilationUnitTree unit, PrintStream out) throws IOException {
            this.trees = trees; this.unit = unit; this.out = out;
            text = unit.getSourceFile().getCharContent(true).toString();
            path = unit.getSourceFile().toUri().getPath();
            positions = trees.getSourcePositions();
        }

        void mark(long at, String name, String role) {
            Element element = trees.getElement(getCurrentPath());
            if (element == null || at < 0 || !text.startsWith(name, (int) at)) return;
            String symbol;
            try { symbol = key(element); } catch (RuntimeException e) { return; } // javac gave up on it
            if (symbol == null) return;
            int start = (int) at, line = 1 + (int) text.substring(0, start).chars().filter(c -> c == '\n').count();
            String before = text.substring(text.lastIndexOf('\n', start - 1) + 1, start);
            int column = before.getBytes(StandardCharsets.UTF_8).length + 1;
            out.println(path + "\t" + line + "\t" + column + "\t" + symbol + "\t" + role);
        }

        String key(Element element) {
            switch (element.getKind()) {
                case PACKAGE: case MODULE: case OTHER: return null;
                case LOCAL_VARIABLE: case PARAMETER: case EXCEPTION_PARAMETER: case RESOURCE_VARIABLE: case BINDING_VARIABLE: case TYPE_PARAMETER:
                    return path + "@" + System.identityHashCode(element);
                default:
            }
            Element outer = element.getEnclosingElement();
            String own = element.getKind() == ElementKind.CONSTRUCTOR ? outer.getSimpleName().toString() : element.getSimpleName().toString();
            String around = outer == null || outer.getKind() == ElementKind.PACKAGE ? String.valueOf(outer) : key(outer);
            String type = element instanceof ExecutableElement ? "(" + ((ExecutableElement) element).getParameters().stream().map(p -> p.asType().toString()).reduce("", (a, b) -> a + "," + b) + ")" : "";
            if (element instanceof TypeElement && ((TypeElement) element).getNestingKind().ordinal() >= NestingKind.LOCAL.ordinal()) own += System.identityHashCode(element);
            return (around + "." + own + type).replace('\t', ' ');
        }

        long named(Tree tree, String name, long from) {
            long end = positions.getEndPosition(unit, tree);
            for (long at = text.indexOf(name, (int) from); at >= 0 && at < end; at = text.indexOf(name, (int) at + 1)) {
                char after = at + name.length() < text.length() ? text.charAt((int) at + name.length()) : ' ';
                if (!Character.isJavaIdentifierPart(text.charAt((int) Math.max(0, at - 1))) && !Character.isJavaIdentifierPart(after)) return at;
            }
            return -1;
        }

        long after(Tree... before) {
            long at = -1;
            for (Tree tree : before) if (tree != null) at = Math.max(at, positions.getEndPosition(unit, tree));
            return at;
        }

        @Override public Void visitClass(ClassTree tree, Void v) {
            String name = tree.getSimpleName().toString();
            long from = Math.max(positions.getStartPosition(unit, tree), after(tree.getModifiers()));
            if (!name.isEmpty() && from >= 0) mark(named(tree, name, from), name, "d");
            return super.visitClass(tree, v);
        }

        @Override public Void visitMethod(MethodTree tree, Void v) {
            String name = tree.getName().toString();
            Element element = trees.getElement(getCurrentPath());
            if (name.equals("<init>") && element != null) name = element.getEnclosingElement().getSimpleName().toString();
            long start = positions.getStartPosition(unit, tree);
            long from = Math.max(start, after(tree.getModifiers(), tree.getReturnType()));
            for (var parameter : tree.getTypeParameters()) from = Math.max(from, after(parameter));
            if (start >= 0) mark(named(tree, name, from), name, "d");
            return super.visitMethod(tree, v);
        }

        @Override public Void visitVariable(VariableTree tree, Void v) {
            String name = tree.getName().toString();
            long start = positions.getStartPosition(unit, tree);
            if (start >= 0 && !name.isEmpty()) mark(named(tree, name, Math.max(start, after(tree.getModifiers(), tree.getType()))), name, "d");
            return super.visitVariable(tree, v);
        }

        @Override public Void visitIdentifier(IdentifierTree tree, Void v) {
            String name = tree.getName().toString();
            if (!name.equals("this") && !name.equals("super")) mark(positions.getStartPosition(unit, tree), name, "u");
            return null;
        }

        @Override public Void visitMemberSelect(MemberSelectTree tree, Void v) {
            String name = tree.getIdentifier().toString();
            if (!name.equals("class") && !name.equals("this")) mark(positions.getEndPosition(unit, tree) - name.length(), name, "u");
            return super.visitMemberSelect(tree, v);
        }

        @Override public Void visitMemberReference(MemberReferenceTree tree, Void v) {
            String name = tree.getName().toString();
            if (!name.equals("<init>")) mark(positions.getEndPosition(unit, tree) - name.length(), name, "u");
            return super.visitMemberReference(tree, v);
        }
    }
}
